// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/operations.h"

/// Amounts of data between groups, for FULMAR_CHECK=collectives (mpi/coll/check/count_check.h).
/// Ranks are those of the other group. Within a group all ranks reduce as much as their first one,
/// which was compared before (mpi/coll/check/collective_check.h): it represents its group.
namespace fulmar::mpi {

void Bcast::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) return count_check.expect(root, data);
  for (int rank = 0; rank < comm.remote_size; ++rank) count_check.give(rank, as_const(data));
}

void Gather::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) return count_check.give(root, send);
  for (int rank = 0; rank < comm.remote_size; ++rank) count_check.expect(rank, receive[rank]);
}

void Scatter::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) return count_check.expect(root, receive);
  for (int rank = 0; rank < comm.remote_size; ++rank) count_check.give(rank, send.to(rank));
}

void Allgather::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  for (int rank = 0; rank < comm.remote_size; ++rank) {
    count_check.give(rank, send);
    count_check.expect(rank, receive[rank]);
  }
}

void Reduce::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) return count_check.give(root, {send, count, type});
  for (int rank = 0; rank < comm.remote_size; ++rank)
    count_check.expect(rank, {receive, count, type});
}

void Allreduce::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (comm.rank != 0) return;
  count_check.give(0, {send, receive.count, receive.type});
  count_check.expect(0, receive);
}

void ReduceScatter::add_inter_counts(const Comm& comm, CountCheck& count_check) const {
  if (comm.rank != 0) return;
  Count total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) total += count_of(rank);
  count_check.give(0, {send, total, type});
  count_check.expect(0, {receive, total, type});
}

}  // namespace fulmar::mpi
