// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/job/missing_rank.h"

#include <algorithm>
#include <bit>
#include <span>

namespace fulmar::runtime {

std::optional<std::uint32_t> find_missing(const device::WaitNote& note, const wire::WaitBody& body,
                                          bool (*never_joined)(const void* context,
                                                               std::uint32_t rank),
                                          const void* context) noexcept {
  const auto is_missing = [&](std::uint32_t rank) { return never_joined(context, rank); };
  const std::span<const std::uint32_t> peers(
      body.peers.data(), std::min<std::size_t>(body.peer_count, body.peers.size()));
  const auto first = std::find_if(peers.begin(), peers.end(), is_missing);
  switch (static_cast<wire::WaitKind>(body.kind)) {
    case wire::WaitKind::message:
      if (first != peers.end()) return *first;
      return std::nullopt;
    case wire::WaitKind::any: {
      // A full list may be cut short, and without a subject it lacks what is sent.
      const bool complete =
          peers.size() < body.peers.size() && note.kind != device::WaitNote::Kind::nothing;
      if (complete && !peers.empty() && std::all_of(peers.begin(), peers.end(), is_missing)) {
        return *first;
      }
      return std::nullopt;
    }
    case wire::WaitKind::collective:
      for (std::uint32_t word = 0; word < body.members.size(); ++word) {
        for (std::uint64_t left = body.members[word]; left != 0; left &= left - 1) {
          const std::uint32_t rank = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
          if (is_missing(rank)) return rank;
        }
      }
      return std::nullopt;
    case wire::WaitKind::lock:  // whoever holds it
    case wire::WaitKind::exposure:
    case wire::WaitKind::other:
      break;
  }
  return std::nullopt;
}

}  // namespace fulmar::runtime
