// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/tests.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include "fulmar/measure/collectives.h"
#include "fulmar/measure/interfaces.h"
#include "fulmar/measure/one_sided.h"
#include "fulmar/measure/pairs.h"
#include "fulmar/measure/rings.h"
#include "fulmar/measure/strided.h"

namespace fulmar::measure {

namespace {

constexpr int data_tag = 7;
constexpr int answer_tag = 8;
constexpr int control_tag = 7001;
constexpr std::size_t page = 4096;

struct Named {
  Kind test;
  std::string_view name;
};
constexpr std::array<Named, 91> names{{{Kind::latency, "latency"},
                                       {Kind::bandwidth, "bandwidth"},
                                       {Kind::bibw, "bibw"},
                                       {Kind::rate, "rate"},
                                       {Kind::exchange, "exchange"},
                                       {Kind::burst, "burst"},
                                       {Kind::strided, "strided"},
                                       {Kind::typed, "typed"},
                                       {Kind::face_x, "face-x"},
                                       {Kind::face_y, "face-y"},
                                       {Kind::face_z, "face-z"},
                                       {Kind::pairs, "pairs"},
                                       {Kind::ring, "ring"},
                                       {Kind::random_ring, "random-ring"},
                                       {Kind::put, "put"},
                                       {Kind::get, "get"},
                                       {Kind::accumulate, "accumulate"},
                                       {Kind::fetch_and_op, "fetch-and-op"},
                                       {Kind::compare_and_swap, "compare-and-swap"},
                                       {Kind::put_own, "put-own"},
                                       {Kind::get_own, "get-own"},
                                       {Kind::accumulate_own, "accumulate-own"},
                                       {Kind::fetch_and_op_own, "fetch-and-op-own"},
                                       {Kind::put_bw, "put-bw"},
                                       {Kind::get_bw, "get-bw"},
                                       {Kind::put_bibw, "put-bibw"},
                                       {Kind::put_busy, "put-busy"},
                                       {Kind::lock, "lock"},
                                       {Kind::rwapi_latency, "rwapi-latency"},
                                       {Kind::rwapi_bandwidth, "rwapi-bandwidth"},
                                       {Kind::rwapi_bibw, "rwapi-bibw"},
                                       {Kind::rwapi_burst, "rwapi-burst"},
                                       {Kind::sisci_latency, "sisci-latency"},
                                       {Kind::sisci_bandwidth, "sisci-bandwidth"},
                                       {Kind::sisci_bibw, "sisci-bibw"},
                                       {Kind::vipl_latency, "vipl-latency"},
                                       {Kind::vipl_bandwidth, "vipl-bandwidth"},
                                       {Kind::vipl_bibw, "vipl-bibw"},
                                       {Kind::vipl_alloc_latency, "vipl-alloc-latency"},
                                       {Kind::vipl_alloc_bandwidth, "vipl-alloc-bandwidth"},
                                       {Kind::vipl_alloc_bibw, "vipl-alloc-bibw"},
                                       {Kind::barrier, "barrier"},
                                       {Kind::bcast, "bcast"},
                                       {Kind::reduce, "reduce"},
                                       {Kind::allreduce, "allreduce"},
                                       {Kind::allgather, "allgather"},
                                       {Kind::alltoall, "alltoall"},
                                       {Kind::gather, "gather"},
                                       {Kind::scatter, "scatter"},
                                       {Kind::reduce_scatter, "reduce_scatter"},
                                       {Kind::scan, "scan"},
                                       {Kind::exscan, "exscan"},
                                       {Kind::gatherv, "gatherv"},
                                       {Kind::scatterv, "scatterv"},
                                       {Kind::allgatherv, "allgatherv"},
                                       {Kind::alltoallv, "alltoallv"},
                                       {Kind::alltoallw, "alltoallw"},
                                       {Kind::reduce_scatterv, "reduce_scatterv"},
                                       {Kind::ibarrier, "ibarrier"},
                                       {Kind::ibcast, "ibcast"},
                                       {Kind::ireduce, "ireduce"},
                                       {Kind::iallreduce, "iallreduce"},
                                       {Kind::iallgather, "iallgather"},
                                       {Kind::ialltoall, "ialltoall"},
                                       {Kind::igather, "igather"},
                                       {Kind::iscatter, "iscatter"},
                                       {Kind::ireduce_scatter, "ireduce_scatter"},
                                       {Kind::iscan, "iscan"},
                                       {Kind::igatherv, "igatherv"},
                                       {Kind::iscatterv, "iscatterv"},
                                       {Kind::iallgatherv, "iallgatherv"},
                                       {Kind::ialltoallv, "ialltoallv"},
                                       {Kind::barrier_init, "barrier_init"},
                                       {Kind::bcast_init, "bcast_init"},
                                       {Kind::reduce_init, "reduce_init"},
                                       {Kind::allreduce_init, "allreduce_init"},
                                       {Kind::allgather_init, "allgather_init"},
                                       {Kind::alltoall_init, "alltoall_init"},
                                       {Kind::gather_init, "gather_init"},
                                       {Kind::scatter_init, "scatter_init"},
                                       {Kind::neighbor_allgather, "neighbor_allgather"},
                                       {Kind::neighbor_alltoall, "neighbor_alltoall"},
                                       {Kind::ineighbor_alltoall, "ineighbor_alltoall"},
                                       {Kind::reduce_in_place, "reduce_in_place"},
                                       {Kind::allreduce_in_place, "allreduce_in_place"},
                                       {Kind::allgather_in_place, "allgather_in_place"},
                                       {Kind::alltoall_in_place, "alltoall_in_place"},
                                       {Kind::inter_bcast, "inter_bcast"},
                                       {Kind::inter_allreduce, "inter_allreduce"},
                                       {Kind::inter_allgather, "inter_allgather"},
                                       {Kind::inter_alltoall, "inter_alltoall"}}};

std::byte* pages(std::size_t bytes, int fill) {
  const std::size_t rounded = (bytes / page + 1) * page;
  void* memory = std::aligned_alloc(page, rounded);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memset(memory, fill, rounded);
  return static_cast<std::byte*>(memory);
}

/// Rank 0's value on every rank of the team, by point-to-point calls only.
int agree(const Team& team, int value) {
  if (team.rank != 0) {
    MPI_Recv(&value, 1, MPI_INT, 0, control_tag, team.comm, MPI_STATUS_IGNORE);
    return value;
  }
  for (int rank = 1; rank < team.size; ++rank) {
    MPI_Send(&value, 1, MPI_INT, rank, control_tag, team.comm);
  }
  return value;
}

void ping_pong(const Team& team, int bytes, const Buffers& buffers, int count) {
  const int peer = 1 - team.rank;
  for (int i = 0; i < count; ++i) {
    if (team.rank == 0) {
      MPI_Send(buffers.send(), bytes, MPI_BYTE, peer, data_tag, team.comm);
      MPI_Recv(buffers.receive(), bytes, MPI_BYTE, peer, data_tag, team.comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffers.receive(), bytes, MPI_BYTE, peer, data_tag, team.comm, MPI_STATUS_IGNORE);
      MPI_Send(buffers.send(), bytes, MPI_BYTE, peer, data_tag, team.comm);
    }
  }
}

void swap_messages(const Team& team, int bytes, const Buffers& buffers, int count) {
  const int peer = 1 - team.rank;
  for (int i = 0; i < count; ++i) {
    MPI_Sendrecv(buffers.send(), bytes, MPI_BYTE, peer, data_tag, buffers.receive(), bytes,
                 MPI_BYTE, peer, data_tag, team.comm, MPI_STATUS_IGNORE);
  }
}

void send_window(MPI_Comm comm, int peer, int bytes, const Buffers& buffers) {
  std::array<MPI_Request, window> requests;
  for (MPI_Request& request : requests) {
    MPI_Isend(buffers.send(), bytes, MPI_BYTE, peer, data_tag, comm, &request);
  }
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
}

void receive_window(MPI_Comm comm, int peer, int bytes, const Buffers& buffers) {
  std::array<MPI_Request, window> requests;
  for (MPI_Request& request : requests) {
    MPI_Irecv(buffers.receive(), bytes, MPI_BYTE, peer, data_tag, comm, &request);
  }
  MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
}

void send_windows(MPI_Comm comm, int peer, int bytes, const Buffers& buffers, int count) {
  for (int i = 0; i < count; ++i) {
    send_window(comm, peer, bytes, buffers);
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, answer_tag, comm, MPI_STATUS_IGNORE);
  }
}

void receive_windows(MPI_Comm comm, int peer, int bytes, const Buffers& buffers, int count) {
  for (int i = 0; i < count; ++i) {
    receive_window(comm, peer, bytes, buffers);
    MPI_Send(nullptr, 0, MPI_BYTE, peer, answer_tag, comm);
  }
}

/// The answer comes at the end alone: the time of the sender is that until all have arrived.
void burst(const Team& team, int bytes, const Buffers& buffers, int count) {
  const int peer = 1 - team.rank;
  for (int i = 0; i < count; ++i) {
    team.rank == 0 ? send_window(team.comm, peer, bytes, buffers)
                   : receive_window(team.comm, peer, bytes, buffers);
  }
  if (team.rank == 0) {
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, answer_tag, team.comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(nullptr, 0, MPI_BYTE, peer, answer_tag, team.comm);
  }
}

void exchange_windows(const Team& team, int bytes, const Buffers& buffers, int count) {
  const int peer = 1 - team.rank;
  std::array<MPI_Request, 2 * window> requests;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < window; ++k) {
      MPI_Irecv(buffers.receive(), bytes, MPI_BYTE, peer, data_tag, team.comm, &requests[k]);
    }
    for (int k = window; k < 2 * window; ++k) {
      MPI_Isend(buffers.send(), bytes, MPI_BYTE, peer, data_tag, team.comm, &requests[k]);
    }
    MPI_Waitall(2 * window, requests.data(), MPI_STATUSES_IGNORE);
  }
}

void one_way(const Team& team, int bytes, const Buffers& buffers, int count) {
  const int half = team.size / 2;
  if (team.rank < half) {
    send_windows(team.comm, team.rank + half, bytes, buffers, count);
  } else {
    receive_windows(team.comm, team.rank - half, bytes, buffers, count);
  }
}

/// Of point-to-point tests: all ranks take part.
bool is_of_all(Kind test) {
  return (test >= Kind::pairs && test <= Kind::random_ring) || test == Kind::lock;
}

bool is_strided(Kind test) { return test >= Kind::strided && test <= Kind::face_z; }

/// Where ranks may share a core, a batch must outlast several turns of each.
Budget patient(const Budget& budget, const Team& team) {
  Budget longer = budget;
  if (team.size > 2) {
    longer.batch_ns = std::max(budget.batch_ns, 2e6);
  }
  return longer;
}

}  // namespace

Buffers::Buffers(std::size_t bytes, std::size_t offset)
    : offset_(offset), send_(pages(offset + bytes, 0)), receive_(pages(offset + bytes, 1)) {}

Buffers::~Buffers() {
  std::free(send_);
  std::free(receive_);
}

std::string_view name(Kind test) { return names[static_cast<std::size_t>(test)].name; }

std::optional<Kind> test_from(std::string_view wanted) {
  for (const Named& named : names) {
    if (named.name == wanted) {
      return named.test;
    }
  }
  return std::nullopt;
}

std::vector<std::string> test_names() {
  std::vector<std::string> list;
  for (const Named& named : names) {
    list.emplace_back(named.name);
  }
  return list;
}

bool point_to_point(Kind test) { return test < Kind::barrier; }

std::size_t buffer_bytes(Kind test, std::size_t bytes, int ranks) {
  return is_strided(test) ? strided_span(test, bytes) : bytes * blocks_of(test, ranks);
}

int team_size(Kind test, int ranks) {
  if (test == Kind::rate) {
    return ranks / 2 * 2;
  }
  return point_to_point(test) && !is_of_all(test) ? std::min(ranks, 2) : ranks;
}

std::vector<std::size_t> default_sizes(Kind test) {
  constexpr std::size_t largest = 4 << 20;
  constexpr std::size_t largest_for_rate = 4096;
  std::vector<std::size_t> sizes;
  if (is_barrier(test)) {
    return {0};
  }
  if (is_strided(test)) {
    return {512, 8192, 131072, 524288};  // squares of doubles
  }
  if (!point_to_point(test)) {
    return {8, 64, 512, 4096, 32768, 262144};
  }
  if (has_one_size(test)) {
    return {8};
  }
  if (is_of_all(test)) {
    return {8, 1024, 65536};
  }
  if (test == Kind::latency || test == Kind::rate) {
    sizes.push_back(0);
  }
  for (std::size_t bytes = is_one_sided(test) ? 8 : 1;
       bytes <= (test == Kind::rate ? largest_for_rate : largest); bytes *= 2) {
    sizes.push_back(bytes);
  }
  return sizes;
}

Point run(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
          const Budget& budget) {
  const int length = static_cast<int>(bytes);
  const Agree told = [&team](int value) { return agree(team, value); };
  const Budget longer = patient(budget, team);
  if (is_one_sided(test)) {
    return run_one_sided(test, team, bytes, buffers, test == Kind::lock ? longer : budget, told);
  }
  if (is_of_interface(test)) return run_interface(test, team, bytes, budget, told);
  switch (test) {
    case Kind::latency:
      return measure(told, bytes, 2, budget,
                     [&](int count) { ping_pong(team, length, buffers, count); });
    case Kind::bandwidth:
      return measure(told, bytes, window, budget,
                     [&](int count) { one_way(team, length, buffers, count); });
    case Kind::bibw:
      return measure(told, bytes, 2 * window, budget,
                     [&](int count) { exchange_windows(team, length, buffers, count); });
    case Kind::rate:
      return measure(told, bytes, window * (team.size / 2.0), longer,
                     [&](int count) { one_way(team, length, buffers, count); });
    case Kind::exchange:
      return measure(told, bytes, 2, budget,
                     [&](int count) { swap_messages(team, length, buffers, count); });
    case Kind::burst:
      return measure(told, bytes, window, budget,
                     [&](int count) { burst(team, length, buffers, count); });
    case Kind::pairs:
      return run_pairs(team, bytes, buffers, budget);
    case Kind::ring:
    case Kind::random_ring:
      return measure(told, bytes, 2.0 * rings_of(test), longer,
                     [&](int count) { run_rings(test, team, bytes, buffers, count); });
    case Kind::strided:
    case Kind::typed:
    case Kind::face_x:
    case Kind::face_y:
    case Kind::face_z:
      return measure(told, bytes, 2, budget,
                     [&](int count) { run_strided(test, team, bytes, buffers, count); });
    default: {
      CollectiveRun calls(test, team, bytes, buffers);
      return measure(told, bytes, 1, longer, [&](int count) { calls.calls(count); });
    }
  }
}

}  // namespace fulmar::measure
