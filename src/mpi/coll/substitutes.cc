// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/operations.h"
#include "mpi/coll/stand_in.h"

/// How each operation replaces wrong arguments of this process; see
/// stand_in.h. Results always go to memory of the library, as the call fails.
namespace fulmar::mpi {
namespace {

/// The type of an argument that was not significant where it was checked.
void give_type(Blocks& blocks, const Comm& comm) noexcept {
  if (blocks.type == nullptr) blocks.type = comm.library->find<Datatype>(MPI_INT);
}

/// An operand that cannot be read: MPI_IN_PLACE where it is not allowed, or a null pointer.
const void* operand(const void* given, const Datatype& type, Count count, StandIn& stand_in) {
  const bool lacks = is_in_place(given) || (given == nullptr && type.predefined);
  return lacks && count > 0 ? stand_in.buffer(type, count) : given;
}

/// The buffers of a reduction, of which this process gives `given` elements and gets `got`.
struct Operands {
  const void* send;
  void* receive;
};
Operands operands(const Comm& comm, Operands now, const Datatype& type, Count given, Count got,
                  StandIn& stand_in) {
  if (is_in_place(now.send) && !comm.is_inter) {
    return {now.send, const_cast<void*>(operand(now.receive, type, given, stand_in))};
  }
  return {operand(now.send, type, given, stand_in), stand_in.buffer(type, got)};
}

const Op* fitting(const Op& op, const Datatype& type, const StandIn& stand_in) {
  return check_reduction(op, type).ok() ? &op : &stand_in.any_op();
}

}  // namespace

bool Gather::substitute(const Comm& comm, StandIn& stand_in) {
  const bool at_root = comm.is_inter ? root == MPI_ROOT : comm.rank == root;
  if (at_root) {
    give_type(receive, comm);
    stand_in.replace(receive, comm.remote_size);
  }
  return !stand_in.failed();
}

bool Gatherv::substitute(const Comm& comm, StandIn& stand_in) {
  const bool at_root = comm.is_inter ? root == MPI_ROOT : comm.rank == root;
  if (at_root) receive.counts = stand_in.counts(receive.counts, comm.remote_size);
  return Gather::substitute(comm, stand_in);
}

bool Scatter::substitute(const Comm& comm, StandIn& stand_in) {
  const bool at_root = comm.is_inter ? root == MPI_ROOT : comm.rank == root;
  if (at_root) {
    give_type(send, comm);
    stand_in.repair(send, comm.remote_size);
  }
  if (!is_in_place(receive.address) && receive.type != nullptr) {
    receive.address = stand_in.buffer(*receive.type, receive.count);
  }
  return !stand_in.failed();
}

bool Scatterv::substitute(const Comm& comm, StandIn& stand_in) {
  const bool at_root = comm.is_inter ? root == MPI_ROOT : comm.rank == root;
  if (at_root) send.counts = stand_in.counts(send.counts, comm.remote_size);
  return Scatter::substitute(comm, stand_in);
}

bool Allgather::substitute(const Comm& comm, StandIn& stand_in) {
  stand_in.replace(receive, comm.remote_size);
  return !stand_in.failed();
}

bool Allgatherv::substitute(const Comm& comm, StandIn& stand_in) {
  receive.counts = stand_in.counts(receive.counts, comm.remote_size);
  return Allgather::substitute(comm, stand_in);
}

bool Alltoall::substitute(const Comm& comm, StandIn& stand_in) {
  const bool sends = comm.is_inter || !send.in_place();
  if (sends) {
    give_type(send, comm);
    stand_in.repair(send, comm.remote_size);
  }
  stand_in.replace(receive, comm.remote_size);
  return !stand_in.failed();
}

bool Alltoallv::substitute(const Comm& comm, StandIn& stand_in) {
  send.counts = stand_in.counts(send.counts, comm.remote_size);
  receive.counts = stand_in.counts(receive.counts, comm.remote_size);
  return Alltoall::substitute(comm, stand_in);
}

bool Alltoallw::substitute(const Comm& comm, StandIn& stand_in) {
  const int number = comm.remote_size;
  types.clear();
  stand_in.find_usable(comm, send_handles, send, number, types);
  stand_in.find_usable(comm, receive_handles, receive, number, types);
  send.types = types.data();
  receive.types = types.data() + number;
  const bool sends = comm.is_inter || !send.in_place();
  if (sends) stand_in.repair(send, number);
  stand_in.replace(receive, number);
  return !stand_in.failed();
}

bool Reduce::substitute(const Comm& comm, StandIn& stand_in) {
  if (type == nullptr || op == nullptr) return false;
  op = fitting(*op, *type, stand_in);
  const bool at_root = comm.is_inter ? root == MPI_ROOT : comm.rank == root;
  if (!at_root) {
    send = operand(send, *type, count, stand_in);
  } else if (comm.is_inter) {
    receive = stand_in.buffer(*type, count);
  } else {
    const Operands good = operands(comm, {send, receive}, *type, count, count, stand_in);
    send = good.send;
    receive = good.receive;
  }
  return !stand_in.failed();
}

bool Allreduce::substitute(const Comm& comm, StandIn& stand_in) {
  op = fitting(*op, *receive.type, stand_in);
  const Operands good = operands(comm, {send, receive.address}, *receive.type, receive.count,
                                 receive.count, stand_in);
  send = good.send;
  receive.address = good.receive;
  return !stand_in.failed();
}

bool ReduceScatter::substitute(const Comm& comm, StandIn& stand_in) {
  op = fitting(*op, *type, stand_in);
  if (!counts.is_null()) counts = stand_in.counts(counts, comm.size());
  Count total = 0;
  for (int rank = 0; rank < comm.size(); ++rank) total += count_of(rank);
  const Operands good =
      operands(comm, {send, receive}, *type, total, count_of(comm.rank), stand_in);
  send = good.send;
  receive = good.receive;
  return !stand_in.failed();
}

}  // namespace fulmar::mpi
