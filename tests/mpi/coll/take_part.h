// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "support/check.h"

// Collective calls whose arguments are wrong in the last rank, which is the root, too.
namespace test {

/// What is wrong.
enum class Fault { none, same, no_send, no_receive };

/// The arguments of one rank: `count` elements for each block.
struct Part {
  Part(int elements, Fault its_fault)
      : count(elements), fault(its_fault), size(size_of(MPI_COMM_WORLD)) {
    const auto all = static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
    from.assign(all, rank_of(MPI_COMM_WORLD) + 1);
    to.assign(all, -7);
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(count);
      displs.push_back(rank * count);
      bytes.push_back(rank * count * 4);
      types.push_back(MPI_INT);
    }
  }

  int* send() { return fault == Fault::no_send ? nullptr : from.data(); }
  int* receive() {
    return fault == Fault::no_receive ? nullptr : fault == Fault::same ? from.data() : to.data();
  }
  /// Such that it is the own block of `receive` where the buffers are the same.
  int* own_block() { return fault == Fault::same ? block(from) : send(); }
  int* receive_block() { return fault == Fault::same ? block(from) : receive(); }
  int* block(std::vector<int>& of) {
    return of.data() + displs[static_cast<std::size_t>(size - 1)];
  }

  int count;
  Fault fault;
  int size;
  MPI_Comm comm = MPI_COMM_WORLD;
  std::vector<int> from;
  std::vector<int> to;
  std::vector<int> counts;
  std::vector<int> displs;
  std::vector<int> bytes;
  std::vector<MPI_Datatype> types;
};

/// One operation: the blocking call, or with a request the non-blocking one.
struct Operation {
  const char* name;
  int (*call)(Part& part, MPI_Request* request);
  /// In the other ranks the last one's send buffer counts.
  bool sends_from_last;
};

inline constexpr std::array<Operation, 15> operations = {{
    {"allgather",
     [](Part& p, MPI_Request* r) {
       int* own = p.own_block();
       return r == nullptr
                  ? MPI_Allgather(own, p.count, MPI_INT, p.receive(), p.count, MPI_INT, p.comm)
                  : MPI_Iallgather(own, p.count, MPI_INT, p.receive(), p.count, MPI_INT, p.comm, r);
     },
     true},
    {"allgatherv",
     [](Part& p, MPI_Request* r) {
       int* own = p.own_block();
       return r == nullptr ? MPI_Allgatherv(own, p.count, MPI_INT, p.receive(), p.counts.data(),
                                            p.displs.data(), MPI_INT, p.comm)
                           : MPI_Iallgatherv(own, p.count, MPI_INT, p.receive(), p.counts.data(),
                                             p.displs.data(), MPI_INT, p.comm, r);
     },
     true},
    {"alltoall",
     [](Part& p, MPI_Request* r) {
       return r == nullptr
                  ? MPI_Alltoall(p.send(), p.count, MPI_INT, p.receive(), p.count, MPI_INT, p.comm)
                  : MPI_Ialltoall(p.send(), p.count, MPI_INT, p.receive(), p.count, MPI_INT, p.comm,
                                  r);
     },
     true},
    {"alltoallv",
     [](Part& p, MPI_Request* r) {
       return r == nullptr
                  ? MPI_Alltoallv(p.send(), p.counts.data(), p.displs.data(), MPI_INT, p.receive(),
                                  p.counts.data(), p.displs.data(), MPI_INT, p.comm)
                  : MPI_Ialltoallv(p.send(), p.counts.data(), p.displs.data(), MPI_INT, p.receive(),
                                   p.counts.data(), p.displs.data(), MPI_INT, p.comm, r);
     },
     true},
    {"alltoallw",
     [](Part& p, MPI_Request* r) {
       const MPI_Datatype* types = p.types.data();
       return r == nullptr
                  ? MPI_Alltoallw(p.send(), p.counts.data(), p.bytes.data(), types, p.receive(),
                                  p.counts.data(), p.bytes.data(), types, p.comm)
                  : MPI_Ialltoallw(p.send(), p.counts.data(), p.bytes.data(), types, p.receive(),
                                   p.counts.data(), p.bytes.data(), types, p.comm, r);
     },
     true},
    {"allreduce",
     [](Part& p, MPI_Request* r) {
       return r == nullptr
                  ? MPI_Allreduce(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm)
                  : MPI_Iallreduce(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm, r);
     },
     true},
    {"scan",
     [](Part& p, MPI_Request* r) {
       return r == nullptr ? MPI_Scan(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm)
                           : MPI_Iscan(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm, r);
     },
     false},
    {"exscan",
     [](Part& p, MPI_Request* r) {
       return r == nullptr
                  ? MPI_Exscan(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm)
                  : MPI_Iexscan(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, p.comm, r);
     },
     false},
    {"reduce",
     [](Part& p, MPI_Request* r) {
       const int root = p.size - 1;
       return r == nullptr
                  ? MPI_Reduce(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, root, p.comm)
                  : MPI_Ireduce(p.send(), p.receive(), p.count, MPI_INT, MPI_MAX, root, p.comm, r);
     },
     false},
    {"reduce_scatter",
     [](Part& p, MPI_Request* r) {
       return r == nullptr ? MPI_Reduce_scatter(p.send(), p.receive(), p.counts.data(), MPI_INT,
                                                MPI_MAX, p.comm)
                           : MPI_Ireduce_scatter(p.send(), p.receive(), p.counts.data(), MPI_INT,
                                                 MPI_MAX, p.comm, r);
     },
     true},
    {"reduce_scatter_block",
     [](Part& p, MPI_Request* r) {
       return r == nullptr ? MPI_Reduce_scatter_block(p.send(), p.receive(), p.count, MPI_INT,
                                                      MPI_MAX, p.comm)
                           : MPI_Ireduce_scatter_block(p.send(), p.receive(), p.count, MPI_INT,
                                                       MPI_MAX, p.comm, r);
     },
     true},
    {"gather",
     [](Part& p, MPI_Request* r) {
       int* own = p.own_block();
       return r == nullptr ? MPI_Gather(own, p.count, MPI_INT, p.receive(), p.count, MPI_INT,
                                        p.size - 1, p.comm)
                           : MPI_Igather(own, p.count, MPI_INT, p.receive(), p.count, MPI_INT,
                                         p.size - 1, p.comm, r);
     },
     false},
    {"gatherv",
     [](Part& p, MPI_Request* r) {
       int* own = p.own_block();
       return r == nullptr ? MPI_Gatherv(own, p.count, MPI_INT, p.receive(), p.counts.data(),
                                         p.displs.data(), MPI_INT, p.size - 1, p.comm)
                           : MPI_Igatherv(own, p.count, MPI_INT, p.receive(), p.counts.data(),
                                          p.displs.data(), MPI_INT, p.size - 1, p.comm, r);
     },
     false},
    {"scatter",
     [](Part& p, MPI_Request* r) {
       int* to = p.receive_block();
       return r == nullptr ? MPI_Scatter(p.send(), p.count, MPI_INT, to, p.count, MPI_INT,
                                         p.size - 1, p.comm)
                           : MPI_Iscatter(p.send(), p.count, MPI_INT, to, p.count, MPI_INT,
                                          p.size - 1, p.comm, r);
     },
     true},
    {"scatterv",
     [](Part& p, MPI_Request* r) {
       int* to = p.receive_block();
       return r == nullptr ? MPI_Scatterv(p.send(), p.counts.data(), p.displs.data(), MPI_INT, to,
                                          p.count, MPI_INT, p.size - 1, p.comm)
                           : MPI_Iscatterv(p.send(), p.counts.data(), p.displs.data(), MPI_INT, to,
                                           p.count, MPI_INT, p.size - 1, p.comm, r);
     },
     true},
}};

/// The ranks of a communicator still make the same call: a board, messages, a request.
inline void expect_in_step(MPI_Comm comm, const char* after) {
  const int size = size_of(comm);
  const int own = rank_of(comm) + 1;
  int sum = 0;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_equal(sum, size * (size + 1) / 2, after);
  sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_equal(sum, size * (size + 1) / 2, after);
}

}  // namespace test
