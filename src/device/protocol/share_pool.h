// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>

#include "wire/node/shm_area.h"

namespace fulmar::device {

/// Which of this process's share descriptors are in use, and the generation of each.
class SharePool {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  SharePool() noexcept { generation_.fill(0); }

  /// A free index, or `none`. Its generation is new.
  [[nodiscard]] std::uint32_t take() noexcept {
    if (used_ == ~std::uint64_t{0}) return none;
    const auto index = static_cast<std::uint32_t>(__builtin_ctzll(~used_));
    used_ |= std::uint64_t{1} << index;
    ++generation_[index];
    return index;
  }
  void give_back(std::uint32_t index) noexcept { used_ &= ~(std::uint64_t{1} << index); }
  [[nodiscard]] std::uint32_t generation(std::uint32_t index) const noexcept {
    return generation_[index];
  }

 private:
  static_assert(wire::share_descriptors == 64);
  std::uint64_t used_ = 0;
  std::array<std::uint32_t, wire::share_descriptors> generation_;
};

}  // namespace fulmar::device
