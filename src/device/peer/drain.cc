// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/drain.h"

#include <algorithm>

#include "device/device.h"

namespace fulmar::device {

Drain::Drain(Device& device) noexcept : device_(device) {
  device_.handlers_.add<&Drain::on_marker>(wire::PacketKind::drain_marker, *this);
}

/// What has arrived earlier counts for the first round, too.
void Drain::begin() noexcept {
  device_.stats_.packet_look().taken = taken_;
  seen_ = UINT64_MAX;
  device_.stats_.packet_look().on = true;
}

void Drain::end() noexcept { device_.stats_.packet_look().on = device_.config_.trace != nullptr; }

std::uint32_t Drain::send_markers() noexcept {
  moved_before_ = moves();
  std::uint32_t sent = 0;
  for (const auto& peer : device_.peers_.connected()) {
    device_.outbox_.send_control(*peer, wire::PacketKind::drain_marker, {}, {});
    ++sent;
  }
  device_.release_held();
  return sent;
}

void Drain::on_marker(Peer& /*peer*/) noexcept { ++taken_; }

bool Drain::moved() noexcept {
  const std::uint64_t others = device_.stats_.packet_look().taken - taken_;
  const bool arrived = others != seen_;
  seen_ = others;
  return moved_before_ || moves() || arrived;
}

/// Bodies that a network puts in place are no packets: the end of their receive may start another message. So
/// what moves counts twice, before the markers and after.
///
/// Operations with a cookie, apart from sends that wait for their receives, are between their match and
/// their end; so are the active ones and the short messages that a network reads.
bool Drain::moves() noexcept {
  bool matched = false;
  device_.operations_.all_named().for_each([&](const Operation& operation) {
    matched = matched || operation.stage != Stage::announced;
  });
  const auto arrives = [](const auto& peer) { return peer->arriving != nullptr; };
  return matched || !device_.active_.empty() || !device_.outbox_.empty() ||
         device_.failures_.pending() || std::ranges::any_of(device_.peers_.connected(), arrives);
}

void Drain::withdraw_offers() noexcept {
  device_.operations_.all_named().for_each([this](Operation& operation) {
    if (operation.transfer != nullptr) device_.rdma_memory_.close(operation);
  });
  match::Matcher& matcher = device_.matcher_;
  for (match::Unexpected* at = matcher.oldest_unexpected(); at != nullptr;
       at = matcher.next_unexpected(*at)) {
    Arrival* const arrival = Arrival::of(at);
    const bool offered =
        arrival->kind == Arrival::Kind::announced && (arrival->flags & wire::rts_open) != 0;
    if (!offered) continue;
    arrival->flags &= static_cast<std::uint8_t>(~wire::rts_open);
    arrival->address = 0;
    arrival->rkey = 0;
  }
}

void Drain::drop_network() noexcept {
  device_.transports_.drop_network();
  device_.idle_polls_ = 0;
  device_.waiting_.drop_wake_socket();
}

}  // namespace fulmar::device
