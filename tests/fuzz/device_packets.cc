// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "fuzz/targets.h"
#include "protocol/cluster.h"

namespace fulmar::fuzz {

namespace {

/// Brings the body as a network would that reads it to its place, in steps; false if the device
/// does not expect it.
bool bring(device::Device& victim, const wire::Envelope& envelope, std::span<const std::byte> body,
           std::size_t step) {
  if (!victim.expect(1, envelope)) return false;
  for (std::size_t at = 0; at < body.size();) {
    const auto places = victim.place(1, envelope, {}, at, body.size() - at);
    if (places.empty()) {
      const std::size_t count = std::min(step, body.size() - at);
      victim.part(1, envelope, {}, at, body.subspan(at, count));
      at += count;
      continue;
    }
    std::size_t filled = 0;
    for (const iovec& place : places) {
      if (place.iov_len > body.size() - at - filled) std::abort();
      std::memcpy(place.iov_base, body.data() + at + filled, place.iov_len);
      filled += place.iov_len;
    }
    victim.placed(1, envelope, {}, at, filled);
    at += filled;
  }
  return true;
}

}  // namespace

void device_packets(std::span<const std::uint8_t> input) {
  device::Device::Config config;
  config.unexpected_budget_bytes = input.empty() || input[0] % 2 == 0 ? 1000 : 1U << 20;
  const unsigned way = input.empty() ? 0 : input[0] / 2 % 5;
  if (way < 4) config.rdma_protocol = static_cast<device::RdmaProtocol>(way);
  config.remote_bytes = 1;
  if (!input.empty() && input[0] >= 128) {
    config.remote_study = {100, device::RemoteStudy::EndOfPut::apart};
  }
  device::Cluster cluster(3, config);
  if (way < 4) cluster.network.memory().turn_on();
  cluster.network.set_reach(false);  // an address is not the hostile peer's to give here
  auto victim = cluster.send(0, 1, 1, 20000, 1);
  auto other = cluster.send(0, 1, 2, 8, 2, device::SendMode::synchronous);
  auto waiting = cluster.receive(0, 1, match::any_tag, 20000);
  auto honest_in = cluster.receive(0, 2, 5, 20000);
  while (input.size() >= 4) {
    const std::size_t bytes = std::min<std::size_t>(input[3] % 72, input.size() - 4);
    const wire::Envelope envelope{static_cast<wire::PacketKind>(input[0] % 20), input[1],
                                  static_cast<std::uint32_t>(input[2] % 2), input[2] / 2 % 4,
                                  static_cast<std::uint32_t>(bytes)};
    const auto* from = reinterpret_cast<const std::byte*>(input.data()) + 4;
    std::vector<std::byte> body(from, from + bytes);
    if (bytes >= sizeof(wire::Cookie) && input[4] % 4 == 3) {  // a name that may be in use
      const wire::Cookie cookie = (wire::Cookie{1} << 32) + 1 + input[5] % 4;
      std::memcpy(body.data(), &cookie, sizeof cookie);
    }
    const bool in_parts = bytes > 0 && input[4] % 4 == 2 &&
                          bring(cluster.device(0), envelope, body, input[4] / 4 + 1U);
    if (!in_parts) cluster.network.queue(1, 0).push_back({envelope, std::move(body)});
    cluster.device(0).progress();
    input = input.subspan(4 + bytes);
  }
  auto honest_out = cluster.send(2, 0, 5, 20000, 3);
  for (unsigned i = 0; i < 1000 && !honest_in->done(); ++i) {
    cluster.device(0).progress();
    cluster.device(2).progress();
  }
  if (!honest_in->done() || !device::holds(*honest_in, 3, 20000)) std::abort();
  if (cluster.network.memory().counters().breaches != 0) std::abort();
}

}  // namespace fulmar::fuzz
