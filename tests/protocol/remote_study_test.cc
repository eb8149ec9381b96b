// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "protocol/remote_peer.h"

/// The two habits that can be brought back for studies (RemoteStudy): announcements that carry the
/// first bytes, and a fin that waits for the end of the put. What each costs is counted.
namespace fulmar::device {
namespace {

using fabric::Access;
using wire::PacketKind;
using EndOfPut = RemoteStudy::EndOfPut;

constexpr wire::Cookie their_send = 77;
constexpr std::size_t bytes = 2 * order_bytes + 100;
constexpr std::size_t inlined = 300;

/// An announcement with `count` bytes of `text` behind it.
std::vector<std::byte> announcement(const wire::RtsBody& body, std::span<const std::byte> text,
                                    std::size_t count) {
  std::vector<std::byte> packet(sizeof body + count);
  std::memcpy(packet.data(), &body, sizeof body);
  std::copy_n(text.begin(), count, packet.begin() + sizeof body);
  return packet;
}

/// A device that receives message 9 from port 1, whose memory is open.
class Inlined : public ::testing::Test {
 protected:
  Inlined() : text(text_of(9, bytes)), opened(peer.open(text, Access::peers_read)) {}
  [[nodiscard]] wire::RtsBody body() const {
    const std::uint64_t flags = wire::rts_open | wire::rts_inlined;
    return {their_send, address_of(text), bytes, flags, opened.rkey, 0};
  }
  void announce(std::size_t count = inlined) {
    peer.receive(1, PacketKind::rts, announcement(body(), text, count), 5);
  }

  RemotePeer peer;
  std::vector<std::byte> text;
  fabric::MemoryRegion opened;
};

TEST_F(Inlined, Rest_is_fetched) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  EXPECT_EQ(receive->bytes().front(), content(9, 0));
  peer.move_orders(9);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, bytes));
  EXPECT_EQ(peer.counters().remote_bytes, bytes - inlined);
  EXPECT_EQ(peer.expect<wire::CookieBody>(PacketKind::fin).operation, their_send);
}

TEST_F(Inlined, Bytes_wait_for_the_receive) {
  announce();
  auto receive = peer.cluster.receive(0, 1, match::any_tag, bytes, Layout::runs);
  peer.move_orders(99);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, bytes));
  EXPECT_EQ(peer.counters().remote_bytes, bytes - inlined);
  EXPECT_EQ(peer.device().unexpected_bytes(), 0U);
}

TEST_F(Inlined, Nothing_is_fetched_where_that_was_all_that_fits) {
  for (const bool expected : {true, false}) {
    std::unique_ptr<Message> receive;
    if (expected) receive = peer.cluster.receive(0, 1, 5, 200);
    announce();
    if (!expected) receive = peer.cluster.receive(0, 1, 5, 200);
    EXPECT_TRUE(receive->done());
    EXPECT_EQ(receive->outcome().error, base::ErrorClass::truncate);
    EXPECT_TRUE(holds(*receive, 9, 200));
    EXPECT_EQ(peer.opened(), 0U);
    peer.expect<wire::CookieBody>(PacketKind::fin);
  }
}

TEST_F(Inlined, Stream_begins_with_the_first_byte) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  peer.memory().refuse_to_open(1);
  announce();
  const auto clear = peer.expect<wire::StreamBody>(PacketKind::cts_stream);
  EXPECT_EQ(clear.length, bytes);
  peer.stream(clear.receive, text);
  EXPECT_TRUE(holds(*receive, 9, bytes));
}

TEST_F(Inlined, More_than_the_message_has_makes_no_sense) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  wire::RtsBody lie = body();
  lie.length = inlined - 1;
  peer.receive(1, PacketKind::rts, announcement(lie, text, inlined), 5);
  announce(wire::most_inlined_bytes + 1);
  EXPECT_EQ(peer.malformed(), 2U);
  EXPECT_FALSE(receive->done());
}

/// A device that puts message 9 to port 1.
class Studied : public ::testing::Test {
 protected:
  Studied() : peer(RdmaProtocol::put), text(bytes), opened(peer.open(text, Access::peers_write)) {}
  std::unique_ptr<Message> send() {
    auto message = peer.cluster.send(0, 1, 5, bytes, 9);
    packet = peer.sent(1);
    cookie = wire::decode<wire::RtsBody>(packet.body)->send;
    return message;
  }
  void clear(std::uint64_t length = bytes) {
    peer.receive(1, PacketKind::cts_put,
                 wire::PutBody{cookie, 88, address_of(text), length, opened.rkey});
  }

  RemotePeer peer;
  std::vector<std::byte> text;
  fabric::MemoryRegion opened;
  decltype(peer.sent(1)) packet;
  wire::Cookie cookie = 0;
};

TEST_F(Studied, First_bytes_are_inlined_and_not_put) {
  peer.device().set_remote_study({inlined, EndOfPut::chained});
  auto message = send();
  ASSERT_EQ(packet.body.size(), sizeof(wire::RtsBody) + inlined);
  EXPECT_EQ(packet.body.back(), content(9, inlined - 1));
  clear();
  peer.move_orders(9);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(text[inlined - 1], std::byte{});
  EXPECT_TRUE(std::equal(text.begin() + inlined, text.end(), text_of(9, bytes).begin() + inlined));
  EXPECT_EQ(peer.counters().remote_bytes, bytes - inlined);
}

/// A receiver that wants no more than it has needs no RDMA write.
TEST_F(Studied, What_was_inlined_is_not_asked_for_again) {
  peer.device().set_remote_study({inlined, EndOfPut::chained});
  auto message = send();
  clear(inlined);
  EXPECT_EQ(peer.malformed(), 1U);
  peer.receive(1, PacketKind::fin, wire::CookieBody{cookie});
  EXPECT_TRUE(message->done());
}

TEST_F(Studied, Nothing_is_inlined_where_no_adapter_will_move_the_message) {
  peer.device().set_remote_study({inlined, EndOfPut::chained});
  peer.device().set_remote_way(RdmaProtocol::off);
  auto message = send();
  EXPECT_EQ(packet.body.size(), sizeof(wire::RtsBody));
}

TEST_F(Studied, Fin_apart_waits_for_the_last_order) {
  peer.device().set_remote_study({0, EndOfPut::apart});
  auto message = send();
  clear();
  EXPECT_EQ(peer.memory().under_way(), 3U);
  EXPECT_EQ(peer.move_orders(2), 2U);
  peer.expect_nothing();
  EXPECT_EQ(peer.move_orders(9), 1U);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(peer.expect<wire::CookieBody>(PacketKind::fin).operation, 88U);
  EXPECT_EQ(text, text_of(9, bytes));
}

/// What is not chained can be repeated, whenever an order fails.
TEST_F(Studied, Fin_apart_is_not_sent_behind_an_order_that_has_failed) {
  peer.device().set_remote_study({0, EndOfPut::apart});
  auto message = send();
  clear();
  EXPECT_EQ(peer.move_orders(2), 2U);
  peer.fail_order();
  EXPECT_EQ(message->stage(), Stage::announced);
  EXPECT_EQ(peer.expect<wire::CookieBody>(PacketKind::no_put).operation, 88U);
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{cookie, 99, bytes});
  peer.expect_stream(bytes, 9);
  EXPECT_TRUE(message->done());
}

}  // namespace
}  // namespace fulmar::device
