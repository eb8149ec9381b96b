// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace fulmar::fabric::tcp {

/// A run of memory; empty by default.
struct Block {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;

  [[nodiscard]] explicit operator bool() const noexcept { return memory != nullptr; }
  [[nodiscard]] std::span<std::byte> all() const noexcept { return {memory.get(), bytes}; }
};

/// Memory of all connections for bytes in flight. A connection has a block only while something waits in it,
/// and blocks are reused, so that few are in use and those are in the cache.
///
/// The budget bounds the sum. When it is used up a connection still gets as much as one frame needs, so that
/// none starves; the sum is then bounded by the frame size times the number of connections with a partial
/// frame.
class Buffers {
 public:
  static constexpr std::size_t block_bytes = 128U << 10;

  explicit Buffers(std::size_t budget_bytes) noexcept : budget_(budget_bytes) {}

  /// A block of block_bytes, or, over the budget, of `least` bytes.
  [[nodiscard]] Block take(std::size_t least);
  /// A block of exactly `bytes`.
  [[nodiscard]] Block take_exactly(std::size_t bytes);
  /// Empties `block`.
  void give_back(Block& block);

  /// Held by connections, and free.
  [[nodiscard]] std::size_t bytes_in_use() const noexcept { return in_use_; }
  [[nodiscard]] std::size_t bytes_kept() const noexcept { return kept_.size() * block_bytes; }

 private:
  std::size_t budget_;
  std::size_t in_use_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> kept_;
};

}  // namespace fulmar::fabric::tcp
