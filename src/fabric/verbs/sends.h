// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fulmar::fabric::verbs {

/// Memory for one message under way.
struct SendBuffer {
  std::span<std::byte> memory;
  std::uint32_t number = 0;  ///< of the send that uses it, among the orders of its queue
  SendBuffer* next = nullptr;
};

/// Memory for messages under way to anybody: a fixed amount, in short and long pieces.
class SendPool {
 public:
  static constexpr std::size_t short_bytes = 2048;
  static constexpr std::size_t short_count = 128;
  static constexpr std::size_t long_count = 64;

  /// `memory_bytes` of `memory` are needed, which outlives the pool.
  static constexpr std::size_t memory_bytes(std::size_t long_bytes) noexcept {
    return short_count * short_bytes + long_count * long_bytes;
  }
  SendPool(std::span<std::byte> memory, std::size_t long_bytes);

  /// A piece of at least `bytes` (at most long_bytes); null if all such pieces are in use.
  [[nodiscard]] SendBuffer* take(std::size_t bytes) noexcept;
  void give_back(SendBuffer& buffer) noexcept;
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  /// Whether few pieces like this one are left: then none may stay taken for long.
  [[nodiscard]] bool runs_low(const SendBuffer& buffer) const noexcept {
    return buffer.memory.size() == short_bytes ? free_shorts_ < short_count / 2
                                               : free_longs_ < long_count / 2;
  }

 private:
  std::vector<SendBuffer> buffers_;
  SendBuffer* first_short_ = nullptr;
  SendBuffer* first_long_ = nullptr;
  std::size_t free_shorts_ = 0;
  std::size_t free_longs_ = 0;
  std::size_t in_use_ = 0;
};

}  // namespace fulmar::fabric::verbs
