// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>

#include "wire/cell.h"

namespace fulmar::wire {

/// One more than the largest number of a packet kind.
inline constexpr std::size_t packet_kinds = static_cast<std::size_t>(PacketKind::last) + 1;

/// The names of packet kinds in reports and traces; null: a number that is not in use.
inline constexpr std::array<const char*, packet_kinds> packet_names = {
    nullptr,        "eager",        "eager_sync",      "sync_ack",
    "rts",          "cts_shared",   "cts_stream",      "data",
    "fin",          "hold",         "release",         "ask",
    "settled",      "cancel",       "cancel_reply",    "ring_close",
    nullptr,        "cts_put",      "no_put",          "pipe_card",
    "peer_failed",  "comm_revoked", "agreement_ranks", "agreement",
    "drain_marker", "probe"};

/// Null for an unknown kind: the byte may come from another process.
constexpr const char* name_of(PacketKind kind) noexcept {
  const auto number = static_cast<std::size_t>(kind);
  return number < packet_names.size() ? packet_names[number] : nullptr;
}

}  // namespace fulmar::wire
