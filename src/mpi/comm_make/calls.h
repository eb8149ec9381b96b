// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// The calls that make communicators (MPI 5.0 sections 7.4.2 and 7.6.2); see mpi/args.h. New ones
// inherit the error handler of the old one. Where making one fails in one process it fails in all,
// and the handle becomes MPI_COMM_NULL, as it does where a process is no member.

base::Error comm_dup(Library& library, Comm& comm, MPI_Comm& out);
base::Error comm_dup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out);
/// After a call that fails: the exchange that has begun goes on without a request for the user.
void leave_idup_running(Library& library, MPI_Request handle);
base::Error comm_idup(Library& library, Comm& comm, MPI_Comm& out, MPI_Request& request);
base::Error comm_idup_with_info(Library& library, Comm& comm, Info* info, MPI_Comm& out,
                                MPI_Request& request);
base::Error comm_create(Library& library, Comm& comm, Group& group, MPI_Comm& out);
base::Error comm_create_group(Library& library, Comm& comm, Group& group, int tag, MPI_Comm& out);
base::Error comm_split(Library& library, Comm& comm, int color, int key, MPI_Comm& out);
/// A split with wrong arguments in this process (`bad`): it fails in all processes.
base::Error refuse_split(Library& library, Comm& comm, base::Error bad, MPI_Comm& out);
/// Hardware objects are derived from the affinity masks of the processes. A process that may run on
/// several objects of the kind in question, and one that names no known kind, gets MPI_COMM_NULL.
/// The unguided form writes the kind that it has chosen into `info`.
base::Error comm_split_type(Library& library, Comm& comm, int type, int key, Info* info,
                            MPI_Comm& out);
base::Error comm_create_from_group(Library& library, Group& group, std::string_view tag, Info* info,
                                   Errhandler& errhandler, MPI_Comm& out);

/// MPIX_Comm_shrink of mpi-ext.h: a communicator of the members that live, also where `comm` was
/// revoked. The handle that MPIX_Comm_ishrink gives is set when the request is completed.
base::Error comm_shrink(Library& library, Comm& comm, MPI_Comm& out);
base::Error comm_ishrink(Library& library, Comm& comm, MPI_Comm& out, MPI_Request& request);

/// `peer_comm`, which may have any shape, and `remote_leader` are significant at the local leader
/// only. MPI_ERR_COMM where the groups overlap.
base::Error intercomm_create(Library& library, Comm& local_comm, int local_leader,
                             MPI_Comm peer_comm, int remote_leader, int tag, MPI_Comm& out);
/// `remote_group` and `remote_leader` are significant at the local leader only.
base::Error intercomm_create_from_groups(Library& library, Group& local_group, int local_leader,
                                         MPI_Group remote_group, int remote_leader,
                                         std::string_view stringtag, Info* info,
                                         Errhandler& errhandler, MPI_Comm& out);
/// MPI_ERR_ARG where the processes of one group differ in `high`. Where both groups give the same
/// value, the group whose first process has the lower number in the job comes first.
base::Error intercomm_merge(Library& library, Comm& comm, int high, MPI_Comm& out);

}  // namespace fulmar::mpi
