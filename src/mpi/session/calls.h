// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// Inquiry of a session about processes (MPI 5.0 section 11.3.2); see mpi/args.h. The process sets
// are described in mpi/session/process_sets.h.

base::Error session_get_num_psets(Library& library, Session& session, Info* info, int& count);
/// `length` goes in as the room at `name`, null byte included, and comes out as what the name
/// needs. With room 0 nothing is stored. MPI_ERR_ARG where there is no set `n`.
base::Error session_get_nth_pset(Library& library, Session& session, Info* info, int n, int& length,
                                 char* name);
/// MPI_ERR_ARG for names of no set.
base::Error session_get_pset_info(Library& library, Session& session, std::string_view name,
                                  MPI_Info& out);
base::Error session_get_info(Library& library, Session& session, MPI_Info& out);
// Buffers for buffered sends on communicators that come from the session (section 3.6).
base::Error session_attach_buffer(Library& library, Session& session, void* buffer, Count size);
base::Error session_detach_buffer(Library& library, Session& session, void*& buffer, CountOut size);
base::Error session_flush_buffer(Library& library, Session& session);
base::Error session_iflush_buffer(Library& library, Session& session, MPI_Request& request);
/// MPI_GROUP_NULL for names of no set.
base::Error group_from_session_pset(Library& library, Session& session, std::string_view name,
                                    MPI_Group& out);

}  // namespace fulmar::mpi
