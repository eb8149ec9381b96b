// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "protocol/remote_peer.h"

/// Messages that the sender's adapter writes: both sides, one packet and one order at a time.
namespace fulmar::device {
namespace {

using fabric::Access;
using wire::PacketKind;

constexpr wire::Cookie their_send = 77;
constexpr wire::Cookie their_receive = 88;
constexpr std::size_t bytes = 2 * order_bytes + 100;

/// A device that receives message 9 from port 1, which would put it.
class Filled : public ::testing::Test {
 protected:
  Filled() : peer(RdmaProtocol::put), text(text_of(9, bytes)) {}
  void announce(std::uint32_t flags = wire::rts_puts) {
    peer.announce({their_send, 0, bytes, flags, 0, 0});
  }
  wire::PutBody expect_clear() {
    const auto body = peer.expect<wire::PutBody>(PacketKind::cts_put);
    EXPECT_EQ(body.send, their_send);
    return body;
  }
  /// What the peer's adapter would do.
  void put(const wire::PutBody& to, std::size_t count) {
    const auto own = peer.open(text, Access::local);
    fabric::Fake port(peer.cluster.network, 1);
    const std::span<const std::byte> from(text.data(), count);
    EXPECT_EQ(port.rdma_write(0, from, own.lkey, {to.address, to.key}, 1), fabric::Post::done);
    EXPECT_TRUE(peer.memory().move_order(1));
  }
  void expect_stream_into(const Message& receive) {
    const auto clear = peer.expect<wire::StreamBody>(PacketKind::cts_stream);
    EXPECT_EQ(clear.length, bytes);
    EXPECT_EQ(peer.memory().open_regions(), 0U);
    peer.stream(clear.receive, text);
    EXPECT_TRUE(receive.done());
    EXPECT_TRUE(holds(receive, 9, bytes));
    EXPECT_TRUE(peer.cluster.clean());
  }

  RemotePeer peer;
  std::vector<std::byte> text;
};

TEST_F(Filled, Memory_is_open_from_the_answer_to_fin) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  const wire::PutBody body = expect_clear();
  EXPECT_EQ(body.address, address_of(receive->memory));
  EXPECT_EQ(body.length, bytes);
  EXPECT_EQ(peer.memory().open_regions(), 1U);
  put(body, bytes);
  EXPECT_FALSE(receive->done());
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.receive});
  EXPECT_TRUE(receive->done());
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::success);
  EXPECT_TRUE(holds(*receive, 9, bytes));
  EXPECT_EQ(peer.device().transfers(), 0U);
  EXPECT_EQ(peer.device().named_operations(), 0U);
  // Late and duplicate.
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.receive});
  peer.receive(1, PacketKind::no_put, wire::CookieBody{body.receive});
  EXPECT_EQ(peer.malformed(), 2U);
}

TEST_F(Filled, Only_what_fits_is_open) {
  auto receive = peer.cluster.receive(0, 1, 5, 3000);
  announce();
  const wire::PutBody body = expect_clear();
  EXPECT_EQ(body.length, 3000U);
  put(body, bytes);
  EXPECT_EQ(peer.memory().counters().bad_places, 1U);
}

TEST_F(Filled, Truncated_message_is_an_error_of_the_receive) {
  auto receive = peer.cluster.receive(0, 1, 5, 3000);
  announce();
  const wire::PutBody body = expect_clear();
  put(body, 3000);
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.receive});
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::truncate);
  EXPECT_TRUE(holds(*receive, 9, 3000));
}

TEST_F(Filled, Message_waits_for_its_receive) {
  announce();
  peer.expect_nothing();
  auto receive = peer.cluster.receive(0, 1, match::any_tag, bytes);
  const wire::PutBody body = expect_clear();
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.receive});
  EXPECT_TRUE(receive->done());
}

TEST_F(Filled, Sender_that_cannot_is_asked_for_a_stream) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  const wire::PutBody body = expect_clear();
  put(body, order_bytes);  // it had begun
  peer.receive(1, PacketKind::no_put, wire::CookieBody{body.receive});
  EXPECT_EQ(peer.counters().remote_retreats, 1U);
  EXPECT_EQ(peer.device().named_operations(), 1U);
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.receive});
  EXPECT_EQ(peer.malformed(), 1U);  // that was another name
  const auto clear = peer.expect<wire::StreamBody>(PacketKind::cts_stream);
  peer.stream(clear.receive, text);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, bytes));
}

TEST_F(Filled, Streams_where_it_may_not_open_memory) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  peer.memory().refuse_to_open(1);
  announce();
  expect_stream_into(*receive);
}

TEST_F(Filled, Several_runs_are_streamed) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes, Layout::runs);
  announce();
  expect_stream_into(*receive);
}

TEST_F(Filled, Streams_where_that_is_switched_off) {
  for (const RdmaProtocol way : {RdmaProtocol::off, RdmaProtocol::fetch}) {
    peer.device().set_remote_way(way);
    auto receive = peer.cluster.receive(0, 1, 5, bytes);
    announce();
    expect_stream_into(*receive);
  }
}

TEST_F(Filled, Data_for_a_receive_that_is_put_is_dropped) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  const wire::PutBody body = expect_clear();
  peer.stream(body.receive, text);
  EXPECT_FALSE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, 0));
  EXPECT_GT(peer.malformed(), 0U);
}

TEST_F(Filled, Fin_of_another_peer_has_no_effect) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  const wire::PutBody body = expect_clear();
  peer.receive(2, PacketKind::fin, wire::CookieBody{body.receive});
  peer.receive(2, PacketKind::no_put, wire::CookieBody{body.receive});
  peer.receive(1, PacketKind::sync_ack, wire::CookieBody{body.receive});
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{body.receive, 1, 8});
  EXPECT_EQ(peer.malformed(), 4U);
  EXPECT_FALSE(receive->done());
  EXPECT_EQ(peer.device().transfers(), 1U);
}

TEST_F(Filled, Receive_fails_when_the_peer_has_died) {
  auto receive = peer.cluster.receive(0, 1, 5, bytes);
  announce();
  expect_clear();
  peer.cluster.network.kill(1);
  for (unsigned i = 0; i < 5000; ++i) peer.device().progress();
  EXPECT_TRUE(receive->done());
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::proc_failed);
  EXPECT_EQ(peer.memory().open_regions(), 0U);
  EXPECT_EQ(peer.device().named_operations(), 0U);
}

/// A device that sends message 9 to port 1, which has opened memory for it.
class Putting : public ::testing::Test {
 protected:
  explicit Putting(RdmaProtocol way = RdmaProtocol::put) : peer(way), text(bytes) {
    opened = peer.open(text, Access::peers_write);
  }
  std::unique_ptr<Message> send(Layout layout = Layout::dense) {
    auto message = peer.cluster.send(0, 1, 5, bytes, 9, SendMode::standard, layout);
    cookie = peer.expect<wire::RtsBody>(PacketKind::rts).send;
    return message;
  }
  [[nodiscard]] wire::PutBody clear(std::uint64_t length = bytes) const {
    return {cookie, their_receive, address_of(text), length, opened.rkey};
  }
  void receive_clear(const wire::PutBody& body) { peer.receive(1, PacketKind::cts_put, body); }
  void expect_answer(PacketKind kind) {
    EXPECT_EQ(peer.expect<wire::CookieBody>(kind).operation, their_receive);
    peer.expect_nothing();
  }
  void expect_stream_of(const Message& message) {
    EXPECT_EQ(message.stage(), Stage::announced);
    EXPECT_EQ(peer.memory().open_regions(), 1U);
    peer.receive(1, PacketKind::cts_stream, wire::StreamBody{cookie, 99, bytes});
    peer.expect_stream(bytes, 9);
    EXPECT_TRUE(message.done());
    EXPECT_EQ(message.outcome().error, base::ErrorClass::success);
    expect_clean();
  }
  /// Nothing but port 1's own memory is left.
  void expect_clean() {
    EXPECT_EQ(peer.device().transfers(), 0U);
    EXPECT_EQ(peer.device().named_operations(), 0U);
    EXPECT_EQ(peer.memory().open_regions(), 1U);
    EXPECT_EQ(peer.memory().under_way(), 0U);
    EXPECT_EQ(peer.memory().counters().breaches, 0U);
  }

  RemotePeer peer;
  std::vector<std::byte> text;
  fabric::MemoryRegion opened;
  wire::Cookie cookie = 0;
};

/// Receive cts_put. Expect: orders, and fin behind them before any has happened; the send is done
/// when all have ended.
TEST_F(Putting, Fin_is_chained_to_the_last_order) {
  auto message = send();
  EXPECT_EQ(peer.opened(), 0U);
  receive_clear(clear());
  EXPECT_EQ(peer.memory().under_way(), 3U);
  EXPECT_EQ(text, std::vector<std::byte>(bytes));
  expect_answer(PacketKind::fin);
  EXPECT_EQ(peer.move_orders(2), 2U);
  EXPECT_FALSE(message->done());
  EXPECT_EQ(peer.move_orders(9), 1U);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(message->outcome().error, base::ErrorClass::success);
  EXPECT_EQ(text, text_of(9, bytes));
  peer.expect_nothing();
  expect_clean();
  EXPECT_EQ(peer.counters().put, 1U);
  EXPECT_EQ(peer.counters().remote_bytes, bytes);
}

TEST_F(Putting, Only_what_is_wanted_is_put) {
  auto message = send();
  receive_clear(clear(3000));
  expect_answer(PacketKind::fin);
  EXPECT_EQ(peer.move_orders(9), 1U);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(text[2999], content(9, 2999));
  EXPECT_TRUE(std::all_of(text.begin() + 3000, text.end(),
                          [](std::byte byte) { return byte == std::byte{}; }));
}

TEST_F(Putting, Long_runs_get_an_order_each) {
  auto message = send(Layout::runs);
  receive_clear(clear());
  EXPECT_EQ(peer.memory().under_way(), bytes / 5000 + 1);
  expect_answer(PacketKind::fin);
  peer.move_orders(99);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(text, text_of(9, bytes));
}

TEST_F(Putting, Orders_without_room_are_given_later) {
  auto message = send();
  peer.memory().set_room(1);
  receive_clear(clear());
  EXPECT_EQ(peer.move_orders(1), 1U);
  peer.expect_nothing();
  EXPECT_EQ(peer.move_orders(1), 1U);
  EXPECT_EQ(peer.memory().under_way(), 1U);
  expect_answer(PacketKind::fin);
  peer.move_orders(1);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(text, text_of(9, bytes));
}

/// Expect: the send does not wait for it.
TEST_F(Putting, Fin_without_room_goes_out_later) {
  auto message = send();
  peer.cluster.network.refuse_posts(1000);
  receive_clear(clear());
  EXPECT_EQ(peer.move_orders(9), 3U);
  EXPECT_TRUE(message->done());
  peer.expect_nothing();
  peer.cluster.network.refuse_posts(0);
  peer.device().progress();
  expect_answer(PacketKind::fin);
}

/// An order fails, although the peer lives, while the fin waits for room. Expect: it never goes
/// out.
TEST_F(Putting, Fin_is_taken_back_where_it_has_not_gone_out) {
  auto message = send();
  peer.cluster.network.refuse_posts(1000);
  receive_clear(clear());
  peer.fail_order();
  peer.move_orders(9);
  EXPECT_EQ(message->stage(), Stage::announced);
  peer.cluster.network.refuse_posts(0);
  peer.device().progress();
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

/// There is room for it when one order has failed and others are still under way. Expect: the same.
TEST_F(Putting, Fin_does_not_go_out_behind_an_order_that_has_failed) {
  auto message = send();
  peer.cluster.network.refuse_posts(1000);
  receive_clear(clear());
  peer.fail_order();
  peer.cluster.network.refuse_posts(0);
  for (int i = 0; i < 10; ++i) peer.device().progress();
  peer.expect_nothing();
  EXPECT_EQ(peer.memory().under_way(), 2U);
  peer.move_orders(9);
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

TEST_F(Putting, Says_so_where_it_may_not_open_memory) {
  auto message = send();
  peer.memory().refuse_to_open(1);
  receive_clear(clear());
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

TEST_F(Putting, Says_so_where_runs_are_short) {
  auto message = send(Layout::strided);
  receive_clear(clear());
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

TEST_F(Putting, Says_so_where_that_was_switched_off) {
  auto message = send();
  peer.device().set_remote_way(RdmaProtocol::off);
  receive_clear(clear());
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

/// An order fails before the last one is given, although the peer lives. Expect: no fin; no_put
/// when the others have ended.
TEST_F(Putting, Goes_back_when_all_orders_have_ended) {
  auto message = send();
  peer.memory().set_room(2);
  receive_clear(clear());
  EXPECT_EQ(peer.memory().under_way(), 2U);
  peer.fail_order();
  EXPECT_EQ(peer.memory().under_way(), 1U);
  EXPECT_EQ(peer.device().transfers(), 1U);
  peer.expect_nothing();
  peer.move_orders(9);
  expect_answer(PacketKind::no_put);
  expect_stream_of(*message);
}

TEST_F(Putting, Send_fails_when_the_peer_dies_and_its_orders_have_ended) {
  auto message = send();
  receive_clear(clear());
  peer.cluster.network.kill(1);
  peer.device().progress();
  peer.device().progress();
  EXPECT_FALSE(message->done());
  EXPECT_EQ(peer.device().transfers(), 1U);
  peer.device().progress();
  EXPECT_TRUE(message->done());
  EXPECT_EQ(message->outcome().error, base::ErrorClass::proc_failed);
  expect_clean();
}

TEST_F(Putting, Place_that_is_not_open_ends_the_send_with_an_error) {
  auto message = send();
  wire::PutBody body = clear();
  body.address += 1;
  receive_clear(body);
  for (unsigned i = 0; i < 9; ++i) {
    peer.memory().move_order(0);
    peer.device().progress();
  }
  EXPECT_TRUE(message->done());
  EXPECT_EQ(message->outcome().error, base::ErrorClass::proc_failed);
  EXPECT_EQ(peer.memory().counters().bad_places, 1U);
  expect_clean();
}

TEST_F(Putting, Requests_that_make_no_sense_are_dropped) {
  auto message = send();
  receive_clear(clear(0));
  receive_clear(clear(bytes + 1));
  wire::PutBody wraps = clear();
  wraps.address = ~std::uint64_t{0} - 100;
  receive_clear(wraps);
  wire::PutBody other = clear();
  other.send += 1;
  receive_clear(other);
  peer.receive(2, PacketKind::cts_put, clear());
  EXPECT_EQ(peer.malformed(), 5U);
  EXPECT_EQ(message->stage(), Stage::announced);
  EXPECT_EQ(peer.opened(), 0U);
  peer.expect_nothing();
}

/// What a peer could send to a send whose orders are under way. Expect: nothing ends it but they.
TEST_F(Putting, No_packet_ends_a_send_under_its_orders) {
  auto message = send();
  receive_clear(clear());
  expect_answer(PacketKind::fin);
  receive_clear(clear());
  peer.receive(1, PacketKind::fin, wire::CookieBody{cookie});
  peer.receive(1, PacketKind::sync_ack, wire::CookieBody{cookie});
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{cookie, 1, 8});
  peer.receive(1, PacketKind::cts_shared, wire::SharedCopyBody{cookie, 4096, 8, 0, 1});
  peer.receive(1, PacketKind::no_put, wire::CookieBody{cookie});
  peer.receive(1, PacketKind::cancel_reply, wire::CancelBody{cookie, 1, 0});
  EXPECT_EQ(peer.malformed(), 6U);
  EXPECT_FALSE(message->done());
  EXPECT_EQ(peer.device().transfers(), 1U);
  peer.expect_nothing();
  peer.move_orders(9);
  EXPECT_TRUE(message->done());
  EXPECT_FALSE(message->outcome().cancelled);
  expect_clean();
}

class PuttingOpen : public Putting {
 protected:
  PuttingOpen() : Putting(RdmaProtocol::automatic) {}
};

/// The memory was opened for a fetch, but the receiver prefers a put.
TEST_F(PuttingOpen, Memory_is_opened_once) {
  auto message = send();
  EXPECT_EQ(peer.opened(), 1U);
  receive_clear(clear());
  expect_answer(PacketKind::fin);
  EXPECT_EQ(peer.move_orders(9), 3U);
  EXPECT_TRUE(message->done());
  EXPECT_EQ(peer.opened(), 1U);
  EXPECT_EQ(text, text_of(9, bytes));
  expect_clean();
}

}  // namespace
}  // namespace fulmar::device
