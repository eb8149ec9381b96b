// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/trace.h"

#include <array>

#include "device/device.h"

/// Stages of messages for a trace (base/trace.h, FULMAR_TRACE).
///
/// Stages that are functions of their own hold a `base::TraceSpan`: a compare while nothing is
/// traced. The straight ways of short messages have none, so that they cost what they did. A traced
/// process does not take them: no peer is `clear`, which sends everything through `start_send`; the
/// lock is on, which sends every wait through `wait_with_threads`; and `packet` comes here. So a
/// trace shows all stages of a short message, each a little slower than without.
namespace fulmar::device {
namespace {

using Names = std::array<const char*, static_cast<std::size_t>(wire::PacketKind::last) + 1>;

constexpr Names taken = {
    "take packet",     "take eager",       "take eager_sync", "take sync_ack", "take rts",
    "take cts_shared", "take cts_stream",  "take data",       "take fin",      "take hold",
    "take release",    "take ask",         "take settled",    "take cancel",   "take cancel_reply",
    "take ring_close", "take ring_revoke", "take cts_put",    "take no_put",   "take pipe_card",
    "take peer_failed"};

constexpr Names given = {
    "post packet",     "post eager",       "post eager_sync", "post sync_ack", "post rts",
    "post cts_shared", "post cts_stream",  "post data",       "post fin",      "post hold",
    "post release",    "post ask",         "post settled",    "post cancel",   "post cancel_reply",
    "post ring_close", "post ring_revoke", "post cts_put",    "post no_put",   "post pipe_card",
    "post peer_failed"};

const char* name_in(const Names& names, wire::PacketKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : names[0];
}

}  // namespace

const char* posting(wire::PacketKind kind) noexcept { return name_in(given, kind); }

void Device::traced_packet(std::uint32_t peer, const wire::Envelope& envelope,
                           const fabric::Body& body) noexcept {
  const base::TraceSpan span(config_.trace, name_in(taken, envelope.kind), peer, body.size());
  take_packet(peer, envelope, body);
}

}  // namespace fulmar::device
