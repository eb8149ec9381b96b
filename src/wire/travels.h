// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "wire/cell.h"
#include "wire/packet_names.h"

namespace fulmar::wire {

/// Whether a packet of this kind can arrive over a network.
constexpr bool travels(std::uint8_t kind) noexcept {
  const auto name = static_cast<PacketKind>(kind);
  return name_of(name) != nullptr && name != PacketKind::ring_close;
}

/// Whether a packet carries or announces a message, which may be unexpected.
constexpr bool brings_message(PacketKind kind) noexcept {
  return kind == PacketKind::eager || kind == PacketKind::eager_sync || kind == PacketKind::rts;
}

/// Whether a packet is about flow control, failures, recovery or checkpoints: without
/// effect at a process that has left the job, which need not receive it.
constexpr bool is_about_flow(PacketKind kind) noexcept {
  return kind == PacketKind::hold || kind == PacketKind::release || kind == PacketKind::ask ||
         kind == PacketKind::settled || kind == PacketKind::peer_failed ||
         kind == PacketKind::comm_revoked || kind == PacketKind::agreement_ranks ||
         kind == PacketKind::agreement || kind == PacketKind::drain_marker;
}

/// Whether a packet is a cancel request or its reply: without effect at a process that has left
/// for good, which will receive no more messages.
constexpr bool is_about_withdrawal(PacketKind kind) noexcept {
  return kind == PacketKind::cancel || kind == PacketKind::cancel_reply;
}

}  // namespace fulmar::wire
