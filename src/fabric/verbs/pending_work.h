// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fulmar::fabric::verbs {

/// The fetches and puts of one queue that are on the way, in the order in which they were posted
/// and will end. Needs no memory before the first.
class PendingRdma {
 public:
  /// More than any adapter works at at a time.
  static constexpr std::uint32_t most = 32;

  [[nodiscard]] std::uint32_t size() const noexcept { return added_ - taken_; }
  [[nodiscard]] bool empty() const noexcept { return added_ == taken_; }
  /// Requires size() < most. `number`: which one it is of all orders of the queue, modulo 2^32.
  void add(std::uint32_t number, std::uint64_t token) {
    if (orders_.empty()) orders_.resize(most);
    orders_[added_++ % most] = {number, token};
  }
  /// Takes out the oldest; returns its token, nothing where there is none.
  std::optional<std::uint64_t> take() noexcept {
    if (empty()) return std::nullopt;
    return orders_[taken_++ % most].token;
  }
  /// The same, but nothing if the oldest was posted after the order with this number.
  std::optional<std::uint64_t> take_until(std::uint32_t number) noexcept {
    if (empty()) return std::nullopt;
    const std::uint32_t ahead = number - orders_[taken_ % most].number;
    return static_cast<std::int32_t>(ahead) < 0 ? std::nullopt : take();
  }

 private:
  struct Order {
    std::uint32_t number = 0;
    std::uint64_t token = 0;
  };
  std::vector<Order> orders_;
  std::uint32_t added_ = 0;
  std::uint32_t taken_ = 0;
};

}  // namespace fulmar::fabric::verbs
