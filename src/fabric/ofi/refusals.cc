// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/refusals.h"

#include <algorithm>
#include <utility>

namespace fulmar::fabric::ofi {

void Refusals::refused(std::uint32_t rank, std::int64_t now_ns) {
  waiting_.try_emplace(rank, Waiting{now_ns + first_wait_ns, 2 * first_wait_ns});
}

std::optional<std::uint32_t> Refusals::due(std::int64_t now_ns) {
  for (auto& [rank, waiting] : waiting_) {
    if (waiting.next_ns > now_ns) continue;
    waiting.next_ns = now_ns + waiting.wait_ns;
    waiting.wait_ns = std::min(2 * waiting.wait_ns, longest_wait_ns);
    return rank;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Refusals::answered(std::int64_t now_ns) {
  const ListenerProbe::Answer answer = probe_.look();
  if (answer == ListenerProbe::Answer::pending && now_ns < give_up_ns_) return std::nullopt;
  const std::uint32_t rank = *std::exchange(asked_, std::nullopt);
  // It may have taken something meanwhile.
  const bool gone = answer == ListenerProbe::Answer::nobody && waiting_.erase(rank) != 0;
  return gone ? std::optional(rank) : std::nullopt;
}

}  // namespace fulmar::fabric::ofi
