// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/block_cyclic.h"

#include <algorithm>
#include <utility>

namespace fulmar::base {

BlockCyclic::BlockCyclic(std::vector<std::uint32_t> parts) : size_(parts.size()) {
  if (parts.empty()) return;
  const auto differs = std::find_if(parts.begin(), parts.end(),
                                    [&](std::uint32_t part) { return part != parts.front(); });
  block_ = static_cast<std::size_t>(differs - parts.begin());
  turn_ = std::size_t{*std::max_element(parts.begin(), parts.end())} + 1;
  for (std::size_t member = 0; member < size_; ++member) {
    if (parts[member] == member / block_ % turn_) continue;
    list_ = std::move(parts);
    return;
  }
}

}  // namespace fulmar::base
