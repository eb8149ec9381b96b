// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/packet/packet_handlers.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/transport/transports.h"

namespace fulmar::device {
namespace {

using wire::PacketKind;

/// A part with a handler of each shape.
struct Part {
  void raw(const Packet& packet) noexcept {
    ++raws;
    key = packet.key();
    bytes = packet.body.size();
  }
  void bare(Peer& from) noexcept { peer = &from; }
  void decoded(Peer& from, const wire::CookieBody& body) noexcept {
    peer = &from;
    cookie = body.operation;
  }
  void keyed(Peer& from, const wire::SettledBody& body, const match::Key& of) noexcept {
    peer = &from;
    order = body.order;
    key = of;
  }
  unsigned raws = 0;
  std::size_t bytes = 0;
  match::Key key{};
  Peer* peer = nullptr;
  wire::Cookie cookie = 0;
  std::uint64_t order = 0;
};

class Table : public ::testing::Test {
 protected:
  Table() {
    peers.grow(3);
    handlers.add<&Part::raw>(PacketKind::data, part);
    handlers.add<&Part::bare>(PacketKind::hold, part);
    handlers.add<&Part::decoded>(PacketKind::fin, part);
    handlers.add<&Part::keyed>(PacketKind::settled, part);
  }
  void take(std::uint32_t from, PacketKind kind, std::span<const std::byte> body) {
    const wire::Envelope envelope{kind, 0, 5, -3, static_cast<std::uint32_t>(body.size())};
    handlers.take({from, envelope, fabric::Body(body)});
  }

  Transports transports;
  PeerTable peers{transports};
  std::uint64_t malformed = 0;
  PacketHandlers handlers{peers, malformed};
  Part part;
};
class Handlers : public Table {};

TEST_F(Handlers, Each_shape_gets_what_it_asks_for) {
  const std::vector<std::byte> some(7);
  take(2, PacketKind::data, some);
  EXPECT_EQ(part.raws, 1U);
  EXPECT_EQ(part.bytes, 7U);
  EXPECT_EQ(part.key, (match::Key{5, 2, -3}));
  EXPECT_EQ(peers.find(2), nullptr) << "as it came: nothing is connected for it";

  take(1, PacketKind::hold, {});
  EXPECT_EQ(part.peer, peers.find(1));
  ASSERT_NE(part.peer, nullptr);

  take(2, PacketKind::fin, wire::bytes_of(wire::CookieBody{99}));
  EXPECT_EQ(part.peer, peers.find(2));
  EXPECT_EQ(part.cookie, 99U);

  take(1, PacketKind::settled, wire::bytes_of(wire::SettledBody{12}));
  EXPECT_EQ(part.order, 12U);
  EXPECT_EQ(part.key, (match::Key{5, 1, -3}));
  EXPECT_EQ(malformed, 0U);
}

TEST_F(Handlers, Body_that_is_too_short_is_counted_and_reaches_nobody) {
  const std::vector<std::byte> few(sizeof(wire::CookieBody) - 1);
  take(1, PacketKind::fin, few);
  take(1, PacketKind::settled, {});
  EXPECT_EQ(malformed, 2U);
  EXPECT_EQ(part.peer, nullptr);
  EXPECT_EQ(peers.find(1), nullptr);
}

TEST_F(Handlers, Kinds_without_a_handler_are_counted) {
  EXPECT_TRUE(handlers.has(PacketKind::data));
  EXPECT_FALSE(handlers.has(PacketKind::cancel));
  EXPECT_FALSE(handlers.has(static_cast<PacketKind>(255)));
  take(1, PacketKind::cancel, wire::bytes_of(wire::CookieBody{1}));
  take(1, PacketKind::none, {});
  take(1, static_cast<PacketKind>(16), {});
  take(1, static_cast<PacketKind>(255), {});
  EXPECT_EQ(malformed, 4U);
}

}  // namespace
}  // namespace fulmar::device
