// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "fulmar/measure/batches.h"

namespace fulmar::measure {

/// latency: half a round trip of blocking calls. bandwidth: rank 0 sends windows of 64 non-blocking
/// messages, each window answered by an empty message. bibw: both ranks send and receive windows at
/// once. rate: as bandwidth, by all pairs (r, r + size/2) at once. barrier, allreduce: calls in a
/// row, 8-byte sums upward.
enum class Kind { latency, bandwidth, bibw, rate, barrier, allreduce };

inline constexpr int window = 64;

/// The ranks 0 … size-1 of `comm` that take part in a test; rank 0 decides and the others are told.
struct Team {
  MPI_Comm comm;
  int rank;
  int size;
};

/// Page-aligned memory for one rank, touched before it is used.
class Buffers {
 public:
  explicit Buffers(std::size_t bytes);
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  [[nodiscard]] void* send() const { return send_; }
  [[nodiscard]] void* receive() const { return receive_; }

 private:
  void* send_;
  void* receive_;
};

std::string_view name(Kind test);
std::optional<Kind> test_from(std::string_view name);
/// Whether the test moves messages between pairs of ranks.
bool point_to_point(Kind test);
/// The ranks that take part when `ranks` are there: two for latency and bandwidth, else all (rate:
/// an even number).
int team_size(Kind test, int ranks);
/// Message sizes: 0, 1, 2, 4, …, up to what the test can say something about.
std::vector<std::size_t> default_sizes(Kind test);

/// Measures one size; called by every rank of the team. Buffers must hold `bytes`.
Point run(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
          const Budget& budget);

}  // namespace fulmar::measure
