// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// Inquiry, name, hints, attributes and freeing of communicators (MPI 5.0
// sections 7.4, 7.6 to 7.8); see mpi/args.h for the form of the parameters. The calls that make
// communicators are in mpi/comm_make.

base::Error comm_rank(Comm& comm, int& rank);
base::Error comm_size(Comm& comm, int& size);
base::Error comm_remote_size(Comm& comm, int& size);
base::Error comm_test_inter(Comm& comm, int& flag);
base::Error comm_compare(Library& library, Comm& a, Comm& b, int& result);
base::Error comm_group(Library& library, Comm& comm, MPI_Group& out);
base::Error comm_remote_group(Library& library, Comm& comm, MPI_Group& out);

/// Names are cut to MPI_MAX_OBJECT_NAME - 1 bytes. MPI_COMM_NULL has a name too.
base::Error comm_set_name(Comm& comm, std::string_view name);
base::Error comm_get_name(Comm* comm, char* name, int& length);

/// Keeps the hints that MPI 5.0 section 7.4.4 defines; none of them changes anything today.
base::Error comm_set_info(Comm& comm, Info* info);
/// The same for a communicator that a call has made; no effect where that is MPI_COMM_NULL.
base::Error set_new_info(Library& library, MPI_Comm made, Info* info);
/// The hints, those that were not set with their defaults, and the kinds of memory
/// (mpi/memory_kinds.h).
base::Error comm_get_info(Library& library, Comm& comm, MPI_Info& out);

base::Error comm_set_attr(Library& library, Comm& comm, int keyval, void* value);
base::Error comm_get_attr(Library& library, Comm& comm, int keyval, void*& value, int& found);
base::Error comm_delete_attr(Library& library, Comm& comm, int keyval);
base::Error attr_put(Library& library, Comm& comm, int keyval, void* value);
base::Error attr_get(Library& library, Comm& comm, int keyval, void*& value, int& found);
base::Error attr_delete(Library& library, Comm& comm, int keyval);

/// Predefined communicators cannot be freed (MPI_ERR_COMM). Where an attribute's delete function
/// fails the communicator stays. Pending operations complete normally.
base::Error comm_free(Library& library, Handle<Comm> comm);
/// As comm_free, but waits for the pending operations of this process.

}  // namespace fulmar::mpi
