// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 sections 11.8 to 11.10; see mpi/args.h. Those that make an
// intercommunicator are collective over `comm`; it gets the error handler of `comm`. Their
// arguments before `root` count at the root only, their errors are those of all processes: see
// connect_groups.

/// The value is that of the world model alone: the intercommunicator with the group of the
/// processes that called MPI_Comm_spawn, until it is freed; MPI_COMM_NULL where the job was not
/// spawned.
base::Error comm_get_parent(Library& library, MPI_Comm& parent);
/// What MPI_Init does in a process that was spawned: connects to those that spawned it.
base::Error connect_to_parent(Library& library, std::string_view port);
/// Info keys are the launcher's (docs/processes.md). `codes` may be MPI_ERRCODES_IGNORE. Fails:
/// spawn, where nothing was started, or what was started has ended before it called MPI_Init; arg.
base::Error comm_spawn(Library& library, std::string_view command, char** arguments, int processes,
                       Info* info, int root, Comm& comm, MPI_Comm& out, int* codes);
base::Error comm_spawn_multiple(Library& library, int count, char** commands, char*** arguments,
                                const int* processes, const MPI_Info* infos, int root, Comm& comm,
                                MPI_Comm& out, int* codes);

/// Writes up to MPI_MAX_PORT_NAME bytes, with the zero at the end.
base::Error open_port(Library& library, Info* info, char* name);
base::Error close_port(Library& library, std::string_view name);
base::Error comm_accept(Library& library, std::string_view name, Info* info, int root, Comm& comm,
                        MPI_Comm& out);
base::Error comm_connect(Library& library, std::string_view name, Info* info, int root, Comm& comm,
                         MPI_Comm& out);
/// Not collective: between this process and the one at the other end of the socket.
base::Error comm_join(Library& library, int socket, MPI_Comm& out);

/// Waits for the pending operations of the communicator, not for the user to complete requests of
/// it; and, where it has processes of several jobs, for all of them to call it, but those that have
/// failed.
base::Error comm_disconnect(Library& library, Handle<Comm> comm);

base::Error publish_name(Library& library, std::string_view service, Info* info,
                         std::string_view port);
base::Error unpublish_name(Library& library, std::string_view service, Info* info,
                           std::string_view port);
/// Writes up to MPI_MAX_PORT_NAME bytes, with the zero at the end.
base::Error lookup_name(Library& library, std::string_view service, Info* info, char* port);

}  // namespace fulmar::mpi
