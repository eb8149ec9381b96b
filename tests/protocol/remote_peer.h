// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "protocol/raw_peer.h"

namespace fulmar::device {

constexpr std::size_t order_bytes = fabric::Fake::max_remote_bytes;
/// What one message has on the way at most.
constexpr std::size_t most_orders = 16;

inline Device::Config remote_config(RdmaProtocol way) {
  Device::Config config;
  config.rdma_protocol = way;
  config.remote_bytes = 1;
  return config;
}

/// A device at port 0 on adapters whose orders happen when the test says; port 1 is the test.
class RemotePeer : public RawPeer {
 public:
  explicit RemotePeer(RdmaProtocol way = RdmaProtocol::automatic) : RawPeer(remote_config(way)) {
    cluster.network.set_reach(false);
    memory().turn_on();
    memory().hold_orders();
  }

  [[nodiscard]] fabric::FakeMemory& memory() { return cluster.network.memory(); }
  [[nodiscard]] const Counters& counters() { return device().counters(); }
  /// Times that the device has opened memory.
  [[nodiscard]] std::uint64_t opened() { return device().memory().figures().opened; }
  /// Port 1 opens memory.
  fabric::MemoryRegion open(std::span<std::byte> bytes, fabric::Access access) {
    auto opened = memory().open(1, bytes, access);
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  void announce(const wire::RtsBody& body) { receive(1, wire::PacketKind::rts, body, 5); }
  /// Orders of the device happen, and it learns of it; returns how many there were.
  unsigned move_orders(unsigned most) {
    unsigned moved = 0;
    while (moved < most && memory().move_order(0)) {
      ++moved;
      device().progress();
    }
    return moved;
  }
  /// An order of the device, any one, ends as lost although the peer lives.
  void fail_order() {
    const std::size_t before = memory().under_way();
    memory().fail_orders(1);
    memory().let_orders_go();
    while (memory().under_way() == before) device().progress();
    memory().hold_orders();
  }
  void expect_nothing() { EXPECT_EQ(sent(1).envelope.kind, wire::PacketKind::none); }
  template <class Body>
  Body expect(wire::PacketKind kind) {
    const auto packet = sent(1);
    EXPECT_EQ(packet.envelope.kind, kind);
    return body_of<Body>(packet);
  }
  /// Sends a whole message as `data`.
  void stream(wire::Cookie to, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 4000) {
      const auto part = bytes.subspan(at, std::min<std::size_t>(4000, bytes.size() - at));
      const wire::DataBody head{to, at};
      std::vector<std::byte> body(sizeof head + part.size());
      std::memcpy(body.data(), &head, sizeof head);
      std::memcpy(body.data() + sizeof head, part.data(), part.size());
      receive(1, wire::PacketKind::data, body);
    }
  }
  /// Takes what is streamed, and checks whether it is message `seed`.
  void expect_stream(std::size_t bytes, std::uint32_t seed) {
    std::size_t at = 0;
    while (at < bytes) {
      device().progress();
      const auto packet = sent(1);
      ASSERT_EQ(packet.envelope.kind, wire::PacketKind::data);
      ASSERT_EQ(body_of<wire::DataBody>(packet).offset, at);
      for (std::size_t i = sizeof(wire::DataBody); i < packet.body.size(); ++i) {
        ASSERT_EQ(packet.body[i], content(seed, at++));
      }
    }
  }
};

/// Message `seed` in one run.
inline std::vector<std::byte> text_of(std::uint32_t seed, std::size_t bytes) {
  std::vector<std::byte> text(bytes);
  for (std::size_t at = 0; at < bytes; ++at) text[at] = content(seed, at);
  return text;
}

inline std::uint64_t address_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

}  // namespace fulmar::device
