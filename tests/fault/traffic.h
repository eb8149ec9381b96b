// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Checked traffic for the fault tests: every byte that arrives is compared with what must be there.
// Failures are counted by test::expect.
namespace traffic {

/// Fills memory with bytes that depend on the position and on `seed`.
void fill(std::span<std::byte> bytes, std::uint32_t seed);
/// Position of the first byte that `fill` with this seed would have made different; the size if
/// there is none.
std::size_t first_difference(std::span<const std::byte> bytes, std::uint32_t seed);

/// A message of `bytes` to the right neighbour and one from the left: in flight until `finish`.
class RingExchange {
 public:
  explicit RingExchange(std::size_t bytes);
  RingExchange(const RingExchange&) = delete;
  RingExchange& operator=(const RingExchange&) = delete;
  ~RingExchange() = default;

  void start();
  /// Some progress, with the messages still on their way when they are long enough.
  void move_a_little();
  /// Waits and checks what came.
  void finish();

 private:
  int left_;
  int right_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// Barrier, allreduce, alltoall.
void collectives();
/// All kinds of traffic once: messages of many lengths around the ring, strided data, collectives.
/// `largest` bounds the messages.
void everything(std::size_t largest);

}  // namespace traffic
