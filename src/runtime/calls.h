// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"

namespace fulmar::runtime {

// Start and end of MPI in a process, and environmental inquiry (MPI 5.0 chapters 9 and 11). For
// the form of the parameters see mpi/args.h.

base::Error init(int* argc, char*** argv);
base::Error init_thread(int* argc, char*** argv, int required, int& provided);
base::Error finalize();
/// A session is a user of MPI like the world model; the first brings MPI up, also after
/// MPI_Finalize.
base::Error session_init(mpi::Library& library, mpi::Info* info, mpi::Errhandler& errhandler,
                         MPI_Session& out);
base::Error session_finalize(mpi::Handle<mpi::Session> session);
/// See mpi-ext.h.
base::Error checkpoint_quiesce(mpi::Library& library, mpi::ErrorTarget& target, mpi::Info* info);
base::Error checkpoint_resume(mpi::Library& library, mpi::ErrorTarget& target, mpi::Info* info);
base::Error initialized(int& flag);
base::Error finalized(int& flag);
base::Error query_thread(int& provided);
base::Error is_thread_main(int& flag);
base::Error abort(mpi::Comm& comm, int code);
base::Error get_processor_name(char* name, int& length);
base::Error alloc_mem(mpi::Count size, mpi::Info* info, void*& memory);
base::Error free_mem(void* memory);

}  // namespace fulmar::runtime
