// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace fulmar::mpi {

/// A set of ranks, most often a small one: a sorted list.
class RankSet {
 public:
  [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& ranks() const noexcept { return ranks_; }
  [[nodiscard]] bool contains(std::uint32_t rank) const noexcept {
    return std::binary_search(ranks_.begin(), ranks_.end(), rank);
  }
  void add(std::uint32_t rank) {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (at == ranks_.end() || *at != rank) ranks_.insert(at, rank);
  }
  void add(const RankSet& others) {
    if (others.empty()) return;
    std::vector<std::uint32_t> all;
    all.reserve(ranks_.size() + others.ranks_.size());
    std::set_union(ranks_.begin(), ranks_.end(), others.ranks_.begin(), others.ranks_.end(),
                   std::back_inserter(all));
    ranks_ = std::move(all);
  }
  /// Equal sets have the same digest; different ones differ with near certainty.
  [[nodiscard]] std::uint64_t digest() const noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    std::uint64_t sum = ranks_.size();
    for (const std::uint32_t rank : ranks_) {
      std::uint64_t word = (rank + 1) * odd;
      word = (word ^ word >> 32) * odd;
      sum += word ^ word >> 29;
    }
    return sum;
  }
  friend bool operator==(const RankSet&, const RankSet&) = default;

 private:
  std::vector<std::uint32_t> ranks_;
};

}  // namespace fulmar::mpi
