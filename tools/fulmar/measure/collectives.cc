// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/collectives.h"

namespace fulmar::measure {

namespace {

struct Call {
  const void* send;
  void* receive;
  int bytes;
  int doubles;
  MPI_Comm comm;
};

void call_once(Kind test, const Call& call) {
  switch (test) {
    case Kind::barrier:
      MPI_Barrier(call.comm);
      break;
    case Kind::bcast:
      MPI_Bcast(call.receive, call.bytes, MPI_BYTE, 0, call.comm);
      break;
    case Kind::reduce:
      MPI_Reduce(call.send, call.receive, call.doubles, MPI_DOUBLE, MPI_SUM, 0, call.comm);
      break;
    case Kind::allreduce:
      MPI_Allreduce(call.send, call.receive, call.doubles, MPI_DOUBLE, MPI_SUM, call.comm);
      break;
    case Kind::reduce_scatter:
      MPI_Reduce_scatter_block(call.send, call.receive, call.doubles, MPI_DOUBLE, MPI_SUM,
                               call.comm);
      break;
    case Kind::gather:
      MPI_Gather(call.send, call.bytes, MPI_BYTE, call.receive, call.bytes, MPI_BYTE, 0, call.comm);
      break;
    case Kind::scatter:
      MPI_Scatter(call.send, call.bytes, MPI_BYTE, call.receive, call.bytes, MPI_BYTE, 0,
                  call.comm);
      break;
    case Kind::allgather:
      MPI_Allgather(call.send, call.bytes, MPI_BYTE, call.receive, call.bytes, MPI_BYTE, call.comm);
      break;
    case Kind::alltoall:
      MPI_Alltoall(call.send, call.bytes, MPI_BYTE, call.receive, call.bytes, MPI_BYTE, call.comm);
      break;
    default:
      break;
  }
}

bool has_root(Kind test) {
  return test == Kind::bcast || test == Kind::reduce || test == Kind::gather ||
         test == Kind::scatter;
}

}  // namespace

void run_collective(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
                    int count) {
  const Call call{buffers.send(), buffers.receive(), static_cast<int>(bytes),
                  static_cast<int>(bytes / sizeof(double)), team.comm};
  for (int i = 0; i < count; ++i) {
    call_once(test, call);
  }
  if (has_root(test)) {
    MPI_Barrier(team.comm);
  }
}

std::size_t blocks_of(Kind test, int ranks) {
  switch (test) {
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter:
      return static_cast<std::size_t>(ranks);
    default:
      return 1;
  }
}

}  // namespace fulmar::measure
