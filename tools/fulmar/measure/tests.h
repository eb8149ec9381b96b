// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fulmar/measure/batches.h"

namespace fulmar::measure {

/// latency: half a round trip of blocking calls. bandwidth: rank 0 sends windows of 64 non-blocking
/// messages, each window answered by an empty message. bibw: both ranks send and receive windows at
/// once. rate: as bandwidth, by all pairs (r, r + size/2) at once. exchange: both ranks send each
/// other one message at a time (MPI_Sendrecv). burst: windows as of bandwidth, without an answer in
/// between. strided, typed and the faces: see strided.h. pairs: see pairs.h. ring, random_ring: see
/// rings.h. put to lock: see one_sided.h. rwapi_latency to vipl_alloc_bibw: see interfaces.h. From barrier on
/// collectives: see collectives.h.
enum class Kind {
  latency,
  bandwidth,
  bibw,
  rate,
  exchange,
  burst,
  strided,
  typed,
  face_x,
  face_y,
  face_z,
  pairs,
  ring,
  random_ring,
  put,
  get,
  accumulate,
  fetch_and_op,
  compare_and_swap,
  put_own,
  get_own,
  accumulate_own,
  fetch_and_op_own,
  put_bw,
  get_bw,
  put_bibw,
  put_busy,
  lock,
  rwapi_latency,
  rwapi_bandwidth,
  rwapi_bibw,
  rwapi_burst,
  sisci_latency,
  sisci_bandwidth,
  sisci_bibw,
  vipl_latency,
  vipl_bandwidth,
  vipl_bibw,
  vipl_alloc_latency,
  vipl_alloc_bandwidth,
  vipl_alloc_bibw,
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  alltoall,
  gather,
  scatter,
  reduce_scatter,
  scan,
  exscan,
  gatherv,
  scatterv,
  allgatherv,
  alltoallv,
  alltoallw,
  reduce_scatterv,
  ibarrier,
  ibcast,
  ireduce,
  iallreduce,
  iallgather,
  ialltoall,
  igather,
  iscatter,
  ireduce_scatter,
  iscan,
  igatherv,
  iscatterv,
  iallgatherv,
  ialltoallv,
  barrier_init,
  bcast_init,
  reduce_init,
  allreduce_init,
  allgather_init,
  alltoall_init,
  gather_init,
  scatter_init,
  neighbor_allgather,
  neighbor_alltoall,
  ineighbor_alltoall,
  reduce_in_place,
  allreduce_in_place,
  allgather_in_place,
  alltoall_in_place,
  inter_bcast,
  inter_allreduce,
  inter_allgather,
  inter_alltoall,
};

/// All names of tests.
std::vector<std::string> test_names();

inline constexpr int window = 64;

/// The ranks 0 … size-1 of `comm` that take part in a test; rank 0 decides and informs the others.
struct Team {
  MPI_Comm comm;
  int rank;
  int size;
};

/// Page-aligned memory for one rank, touched before it is used.
/// Each begins `offset` bytes after the start of a page.
class Buffers {
 public:
  Buffers(std::size_t bytes, std::size_t offset);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  [[nodiscard]] void* send() const { return send_ + offset_; }
  [[nodiscard]] void* receive() const { return receive_ + offset_; }

 private:
  std::size_t offset_;
  std::byte* send_;
  std::byte* receive_;
};

std::string_view name(Kind test);
std::optional<Kind> test_from(std::string_view name);
/// Whether the test moves messages between pairs or neighbours, with point-to-point calls only.
bool point_to_point(Kind test);
/// The ranks that take part when `ranks` are there: two for tests between a pair, else all (rate:
/// an even number).
int team_size(Kind test, int ranks);
/// Message sizes: 0, 1, 2, 4, …, up to what the test can say something about.
std::vector<std::size_t> default_sizes(Kind test);

/// The bytes that buffers must hold to measure a size.
std::size_t buffer_bytes(Kind test, std::size_t bytes, int ranks);

/// Measures one size; called by every rank of the team.
Point run(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
          const Budget& budget);

}  // namespace fulmar::measure
