// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fulmar::base {

/// A mapping of members to parts, such as of ranks to nodes: a list, or, for block-cyclic
/// distributions (by node, by slot, or both), a formula that needs
/// no memory. Immutable.
class BlockCyclic {
 public:
  /// No member.
  BlockCyclic() noexcept = default;
  /// The part of each member; becomes a formula where that is possible.
  explicit BlockCyclic(std::vector<std::uint32_t> parts);

  /// Members 0 to `block` - 1 are in part 0, the next `block` in part 1, and so on up to part
  /// `turn` - 1; then part 0 comes again.
  BlockCyclic(std::size_t size, std::size_t block, std::size_t turn) noexcept
      : size_(size), block_(block), turn_(turn) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Of the formula; requires regular().
  [[nodiscard]] std::size_t block() const noexcept { return block_; }
  [[nodiscard]] std::size_t turn() const noexcept { return turn_; }
  /// Requires member < size(), or that there is no member: then they are all in part 0.
  [[nodiscard]] std::uint32_t operator[](std::size_t member) const noexcept {
    if (list_.empty()) return static_cast<std::uint32_t>(member / block_ % turn_);
    return list_[member];
  }
  /// Whether it needs no list.
  [[nodiscard]] bool regular() const noexcept { return list_.empty(); }

 private:
  std::size_t size_ = 0;
  std::size_t block_ = 1;  ///< neighbours in the same part
  std::size_t turn_ = 1;   ///< parts, until the first one comes again
  std::vector<std::uint32_t> list_;
};

}  // namespace fulmar::base
