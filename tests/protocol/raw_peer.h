// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "protocol/cluster.h"

namespace fulmar::device {

/// A device at port 0 whose peers are the test itself: it feeds one hand-made packet after the
/// other and checks the answers.
class RawPeer {
 public:
  explicit RawPeer(Device::Config config = {}) : cluster(3, config) {}

  /// A packet from `port` arrives at the device.
  void receive(std::uint32_t port, wire::PacketKind kind, const std::vector<std::byte>& body,
               std::int32_t tag = 0, std::uint32_t context = 0) {
    cluster.network.queue(port, 0).push_back(
        {{kind, 0, context, tag, static_cast<std::uint32_t>(body.size())}, body});
    device().progress();
  }
  template <class Body>
  void receive(std::uint32_t port, wire::PacketKind kind, const Body& body, std::int32_t tag = 0,
               std::uint32_t context = 0) {
    const auto bytes = wire::bytes_of(body);
    receive(port, kind, std::vector<std::byte>(bytes.begin(), bytes.end()), tag, context);
  }
  /// The same without any other progress of the device.
  template <class Body>
  void deliver(std::uint32_t port, wire::PacketKind kind, const Body& body, std::int32_t tag) {
    const auto bytes = std::as_bytes(std::span(body));
    device().packet(port, {kind, 0, 0, tag, static_cast<std::uint32_t>(bytes.size())},
                    fabric::Body(bytes));
  }
  /// The next packet that the device sent to `port`; kind `none` if there is none.
  fabric::FakeNetwork::Packet sent(std::uint32_t port) {
    auto& queue = cluster.network.queue(0, port);
    if (queue.empty()) return {};
    fabric::FakeNetwork::Packet packet = std::move(queue.front());
    queue.pop_front();
    return packet;
  }
  template <class Body>
  static Body body_of(const fabric::FakeNetwork::Packet& packet) {
    const auto body = wire::decode<Body>(packet.body);
    EXPECT_TRUE(body.has_value());
    return body.value_or(Body{});
  }
  [[nodiscard]] Device& device() { return cluster.device(0); }
  [[nodiscard]] std::uint64_t malformed() { return device().counters().malformed; }

  Cluster cluster;
};

}  // namespace fulmar::device
