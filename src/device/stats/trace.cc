// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/stats/trace.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "device/device.h"
#include "wire/packet_names.h"

/// Stages of messages for a trace (base/trace.h, FULMAR_TRACE).
///
/// Stages that are functions of their own hold a `base::TraceSpan`: a compare while nothing is
/// traced. The fast paths of short messages have none, so that they cost nothing. A traced
/// process does not use them: no peer is `clear`, which sends everything through `start_send`; the
/// lock is on, which sends every wait through `wait_with_threads`; and `packet` comes here. So a
/// trace shows all stages of a short message, each a little slower than without.
namespace fulmar::device {
namespace {

/// "take rts" and the like, valid for ever.
using Label = std::array<char, 24>;
using Labels = std::array<Label, wire::packet_kinds>;

constexpr Labels labels(std::string_view verb) {
  Labels labels{};
  for (std::size_t kind = 0; kind < labels.size(); ++kind) {
    const char* name = wire::packet_names[kind];
    auto at = std::ranges::copy(verb, labels[kind].begin()).out;
    std::ranges::copy(std::string_view(name == nullptr ? "packet" : name), at);
  }
  return labels;
}

constexpr Labels taken = labels("take ");
constexpr Labels posted = labels("post ");

const char* label_in(const Labels& labels, wire::PacketKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return labels[index < labels.size() ? index : 0].data();
}

}  // namespace

const char* posting(wire::PacketKind kind) noexcept { return label_in(posted, kind); }

void Device::traced_packet(std::uint32_t peer, const wire::Envelope& envelope,
                           const fabric::Body& body) noexcept {
  const base::TraceSpan span(config_.trace, label_in(taken, envelope.kind), peer, body.size());
  ++stats_.packet_look().taken;
  take_packet(peer, envelope, body);
}

}  // namespace fulmar::device
