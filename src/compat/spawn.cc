// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

// Spawning (MPI 5.0 section 11.8). The number of error codes is known at the root, from its arguments, and to the
// others when there are processes.

namespace fulmar::compat {
namespace {

void replace_codes(int* errcodes, MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) errcodes[i] = code_out(errcodes[i]);
}

/// Replaces the error codes; `count` is how many the root asked for.
void replace_codes(int* errcodes, int root, MPI_Comm comm, MPI_Comm intercomm, MPI_Count count) {
  if (errcodes == nullptr) return;
  int rank = MPI_PROC_NULL;
  int made = 0;
  if (functions.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root) {
    replace_codes(errcodes, count);
  } else if (intercomm != nullptr && intercomm != MPI_COMM_NULL &&
             functions.Comm_remote_size(intercomm, &made) == MPI_SUCCESS) {
    replace_codes(errcodes, made);
  }
}

void store_comm(MPI_Comm comm, Foreign<MPI_Comm>* place) {
  if (comm != nullptr) *place = out(comm);
}

}  // namespace

int comm_spawn(const char* command, char** argv, int maxprocs, Foreign<MPI_Info> info, int root,
               Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* intercomm, int* errcodes) {
  const MPI_Comm parents = in<MPI_Comm>(comm);
  MPI_Comm made = nullptr;
  const int result = functions.Comm_spawn(command, argv, maxprocs, in<MPI_Info>(info),
                                          to_standard<set::rank>(root), parents,
                                          intercomm != nullptr ? &made : nullptr, errcodes);
  if (result == MPI_SUCCESS) {
    replace_codes(errcodes, root, parents, made, maxprocs);
    store_comm(made, intercomm);
  }
  return code_out(result);
}

int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                        const Foreign<MPI_Info>* infos, int root, Foreign<MPI_Comm> comm,
                        Foreign<MPI_Comm>* intercomm, int* errcodes) {
  const MPI_Comm parents = in<MPI_Comm>(comm);
  MPI_Comm made = nullptr;
  int rank = MPI_PROC_NULL;
  const bool is_root = functions.Comm_rank(parents, &rank) == MPI_SUCCESS && rank == root;
  const int result = functions.Comm_spawn_multiple(
      count, commands, argvs, maxprocs, HandleArrayIn<MPI_Info>(infos, is_root ? count : 0),
      to_standard<set::rank>(root), parents, intercomm != nullptr ? &made : nullptr, errcodes);
  if (result == MPI_SUCCESS) {
    MPI_Count wanted = 0;
    for (int i = 0; is_root && i < count; ++i) wanted += maxprocs[i];
    replace_codes(errcodes, root, parents, made, wanted);
    store_comm(made, intercomm);
  }
  return code_out(result);
}

}  // namespace fulmar::compat
