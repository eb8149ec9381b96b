// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "wire/cell.h"
#include "wire/packet_names.h"

namespace fulmar::wire {

/// Whether a packet of this kind can come over a network.
constexpr bool travels(std::uint8_t kind) noexcept {
  const auto name = static_cast<PacketKind>(kind);
  return name_of(name) != nullptr && name != PacketKind::ring_close;
}

/// Whether a packet brings a message, or word of one, that nobody may have asked for.
constexpr bool brings_message(PacketKind kind) noexcept {
  return kind == PacketKind::eager || kind == PacketKind::eager_sync || kind == PacketKind::rts;
}

/// Whether a packet speaks about messages that may come or are kept, about failures, or about what is done after these: nothing
/// to a process that has left the job, which has neither.
constexpr bool is_about_flow(PacketKind kind) noexcept {
  return kind == PacketKind::hold || kind == PacketKind::release || kind == PacketKind::ask ||
         kind == PacketKind::settled || kind == PacketKind::peer_failed ||
         kind == PacketKind::comm_revoked || kind == PacketKind::agreement_ranks ||
         kind == PacketKind::agreement;
}

/// Whether a packet asks for a message back, or answers that: nothing to a process that has left
/// for good, which has received all that it ever will.
constexpr bool is_about_withdrawal(PacketKind kind) noexcept {
  return kind == PacketKind::cancel || kind == PacketKind::cancel_reply;
}

}  // namespace fulmar::wire
