// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "protocol/remote_peer.h"

/// Messages that the receiver's adapter reads: both sides, one packet and one order at a time.
namespace fulmar::device {
namespace {

using fabric::Access;
using wire::PacketKind;

constexpr wire::Cookie their_send = 77;

/// A device that receives message 9, which is registered at port 1.
class Fetching : public ::testing::Test {
 protected:
  explicit Fetching(std::size_t bytes = 2 * order_bytes + 100) : text(text_of(9, bytes)) {
    opened = peer.open(text, Access::peers_read);
  }
  [[nodiscard]] wire::RtsBody rts(std::uint32_t flags = wire::rts_open) const {
    return {their_send, address_of(text), text.size(), flags, opened.rkey, 0};
  }
  void expect_fin() {
    EXPECT_EQ(peer.expect<wire::CookieBody>(PacketKind::fin).operation, their_send);
    peer.expect_nothing();
  }
  /// Expect a request for a stream; answers it.
  void expect_stream_into(const Message& receive) {
    const auto clear = peer.expect<wire::StreamBody>(PacketKind::cts_stream);
    EXPECT_EQ(clear.send, their_send);
    EXPECT_EQ(clear.length, text.size());
    EXPECT_EQ(peer.memory().open_regions(), 1U);
    peer.stream(clear.receive, text);
    EXPECT_TRUE(receive.done());
    EXPECT_EQ(receive.outcome().error, base::ErrorClass::success);
    EXPECT_TRUE(holds(receive, 9, text.size()));
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
};

/// Receive an rts of open memory. Expect: three orders, and fin when the last one has ended.
TEST_F(Fetching, Fin_goes_out_when_every_order_has_ended) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  EXPECT_EQ(peer.memory().under_way(), 3U);
  EXPECT_EQ(peer.move_orders(2), 2U);
  peer.expect_nothing();
  EXPECT_FALSE(receive->done());
  EXPECT_EQ(peer.move_orders(9), 1U);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, text.size()));
  expect_fin();
  expect_clean();
  EXPECT_EQ(peer.counters().fetched, 1U);
  EXPECT_EQ(peer.counters().remote_bytes, text.size());
  EXPECT_EQ(peer.opened(), 1U);
}

TEST_F(Fetching, Bytes_are_read_when_the_order_happens) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  std::ranges::copy(text_of(4, text.size()), text.begin());
  peer.move_orders(9);
  EXPECT_TRUE(holds(*receive, 4, text.size()));
}

TEST_F(Fetching, Message_waits_for_its_receive) {
  peer.announce(rts());
  peer.expect_nothing();
  EXPECT_EQ(peer.memory().under_way(), 0U);
  auto receive = peer.cluster.receive(0, match::any_peer, match::any_tag, text.size());
  peer.move_orders(9);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, text.size()));
  expect_fin();
  expect_clean();
}

TEST_F(Fetching, Truncated_message_is_fetched_as_far_as_it_fits) {
  auto receive = peer.cluster.receive(0, 1, 5, 5000);
  peer.announce(rts());
  EXPECT_EQ(peer.move_orders(9), 1U);
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::truncate);
  EXPECT_TRUE(holds(*receive, 9, 5000));
  EXPECT_EQ(peer.counters().remote_bytes, 5000U);
  expect_fin();
}

TEST_F(Fetching, Nothing_is_opened_for_a_receive_of_nothing) {
  auto receive = peer.cluster.receive(0, 1, 5, 0);
  peer.announce(rts());
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::truncate);
  EXPECT_EQ(peer.opened(), 0U);
  expect_fin();
}

TEST_F(Fetching, Long_runs_get_an_order_each) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size(), Layout::runs);
  peer.announce(rts());
  EXPECT_EQ(peer.memory().under_way(), text.size() / 5000 + 1);
  peer.move_orders(99);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, text.size()));
  expect_fin();
}

TEST_F(Fetching, Short_runs_are_streamed) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size(), Layout::strided);
  peer.announce(rts());
  expect_stream_into(*receive);
  EXPECT_EQ(peer.opened(), 0U);
}

TEST_F(Fetching, Streams_where_it_may_not_open_memory) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.memory().refuse_to_open(1);
  peer.announce(rts());
  EXPECT_EQ(peer.counters().refused, 1U);
  expect_stream_into(*receive);
  expect_clean();
}

TEST_F(Fetching, Streams_where_that_is_switched_off) {
  for (const RdmaProtocol way : {RdmaProtocol::off, RdmaProtocol::put}) {
    peer.device().set_remote_way(way);
    auto receive = peer.cluster.receive(0, 1, 5, text.size());
    peer.announce(rts());
    expect_stream_into(*receive);
  }
  EXPECT_EQ(peer.opened(), 0U);
}

/// The first of three orders fails, although the peer lives. Expect: memory is closed and a stream
/// is asked for when the others have ended.
TEST_F(Fetching, Starts_again_as_a_stream_when_all_orders_have_ended) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  peer.fail_order();
  EXPECT_EQ(peer.memory().under_way(), 2U);
  EXPECT_EQ(peer.device().transfers(), 1U);
  peer.expect_nothing();
  peer.move_orders(9);
  EXPECT_EQ(peer.counters().remote_retreats, 1U);
  expect_stream_into(*receive);
  expect_clean();
}

TEST_F(Fetching, Receive_fails_when_the_peer_dies_and_its_orders_have_ended) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  EXPECT_EQ(peer.move_orders(1), 1U);
  peer.cluster.network.kill(1);
  peer.device().progress();
  EXPECT_FALSE(receive->done());
  EXPECT_EQ(peer.device().transfers(), 1U);
  peer.device().progress();
  EXPECT_TRUE(receive->done());
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::proc_failed);
  expect_clean();
}

/// The peer's word is passed to the adapter. Expect: it refuses, and the connection ends.
TEST_F(Fetching, Key_of_nothing_ends_the_receive_with_an_error) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  wire::RtsBody body = rts();
  body.key += 1;
  peer.announce(body);
  peer.move_orders(1);
  while (!receive->done()) peer.device().progress();
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::proc_failed);
  EXPECT_EQ(peer.memory().counters().bad_places, 1U);
  EXPECT_TRUE(holds(*receive, 9, 0));
  expect_clean();
}

TEST_F(Fetching, Length_beyond_what_is_open_ends_the_receive_with_an_error) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size() + 1);
  wire::RtsBody body = rts();
  ++body.length;
  peer.announce(body);
  while (!receive->done()) {
    peer.move_orders(1);
    peer.device().progress();
  }
  EXPECT_EQ(receive->outcome().error, base::ErrorClass::proc_failed);
  expect_clean();
}

TEST_F(Fetching, Addresses_that_wrap_around_are_not_fetched) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  wire::RtsBody body = rts();
  body.address = ~std::uint64_t{0} - 5;
  peer.announce(body);
  EXPECT_EQ(peer.malformed(), 1U);
  expect_stream_into(*receive);
}

/// Packets that name a receive while it fetches; it has no name.
TEST_F(Fetching, No_packet_reaches_the_receive) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  const wire::Cookie guess = (std::uint64_t{1} << 32) + 1;
  peer.receive(1, PacketKind::fin, wire::CookieBody{guess});
  peer.receive(1, PacketKind::no_put, wire::CookieBody{guess});
  peer.receive(1, PacketKind::data, wire::DataBody{guess, 0});
  EXPECT_EQ(peer.malformed(), 3U);
  peer.move_orders(9);
  EXPECT_TRUE(receive->done());
  expect_fin();
}

class FetchingMuch : public Fetching {
 protected:
  FetchingMuch() : Fetching(40 * order_bytes) {}
};

TEST_F(FetchingMuch, Orders_on_the_way_are_bounded) {
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  EXPECT_EQ(peer.memory().under_way(), most_orders);
  EXPECT_EQ(peer.move_orders(1), 1U);
  EXPECT_EQ(peer.memory().under_way(), most_orders);
  EXPECT_EQ(peer.move_orders(99), 39U);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, text.size()));
  expect_fin();
}

TEST_F(FetchingMuch, Orders_without_room_are_given_later) {
  peer.memory().set_room(2);
  auto receive = peer.cluster.receive(0, 1, 5, text.size());
  peer.announce(rts());
  EXPECT_EQ(peer.memory().under_way(), 2U);
  EXPECT_EQ(peer.move_orders(99), 40U);
  EXPECT_TRUE(receive->done());
  expect_fin();
}

/// A device that sends message 9 to port 1.
class Open : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = 3 * order_bytes;
  explicit Open(RdmaProtocol way = RdmaProtocol::automatic) : peer(way) {}
  std::unique_ptr<Message> send(Layout layout = Layout::dense) {
    return peer.cluster.send(0, 1, 5, bytes, 9, SendMode::standard, layout);
  }
  wire::RtsBody rts() { return peer.expect<wire::RtsBody>(PacketKind::rts); }
  void expect_clean() {
    EXPECT_EQ(peer.memory().open_regions(), 0U);
    EXPECT_TRUE(peer.cluster.clean());
  }

  RemotePeer peer;
};

TEST_F(Open, Memory_is_open_from_rts_to_fin) {
  auto message = send();
  const wire::RtsBody body = rts();
  EXPECT_EQ(body.flags, wire::rts_open | wire::rts_puts);
  EXPECT_EQ(body.address, address_of(message->memory));
  EXPECT_EQ(body.length, bytes);
  EXPECT_EQ(peer.memory().open_regions(), 1U);
  // What the peer's adapter would do.
  std::vector<std::byte> text(bytes);
  const auto own = peer.open(text, Access::local);
  fabric::Fake port(peer.cluster.network, 1);
  EXPECT_EQ(port.rdma_read(0, text, own.lkey, {body.address, body.key}, 1), fabric::Post::done);
  EXPECT_TRUE(peer.memory().move_order(1));
  EXPECT_EQ(text, text_of(9, bytes));
  port.close_memory(own);
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.send});
  EXPECT_TRUE(message->done());
  EXPECT_EQ(message->outcome().error, base::ErrorClass::success);
  EXPECT_EQ(peer.memory().open_regions(), 0U);
  EXPECT_EQ(peer.memory().counters().bad_places, 0U);
}

TEST_F(Open, Short_messages_are_not_opened) {
  peer.device().set_remote_bytes(bytes + 1);
  auto message = send();
  EXPECT_EQ(rts().flags, 0U);
  EXPECT_EQ(peer.opened(), 0U);
}

TEST_F(Open, Request_for_a_stream_closes_the_memory) {
  auto message = send();
  const wire::RtsBody body = rts();
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{body.send, 1234, bytes});
  EXPECT_EQ(peer.memory().open_regions(), 0U);
  peer.expect_stream(bytes, 9);
  EXPECT_TRUE(message->done());
  expect_clean();
}

TEST_F(Open, Cancelled_send_closes_the_memory) {
  auto message = send();
  const wire::RtsBody body = rts();
  peer.device().cancel(message->operation);
  EXPECT_EQ(peer.expect<wire::CookieBody>(PacketKind::cancel).operation, body.send);
  EXPECT_EQ(peer.memory().open_regions(), 1U);
  peer.receive(1, PacketKind::cancel_reply, wire::CancelBody{body.send, 1, 0});
  EXPECT_TRUE(message->done() && message->outcome().cancelled);
  expect_clean();
}

TEST_F(Open, Send_without_room_is_opened_once_and_closed_by_cancel) {
  peer.cluster.network.refuse_posts(3);
  auto message = send();
  peer.device().progress();
  EXPECT_EQ(message->stage(), Stage::queued);
  EXPECT_EQ(peer.opened(), 1U);
  peer.device().cancel(message->operation);
  EXPECT_TRUE(message->done());
  peer.cluster.network.refuse_posts(0);
  peer.device().progress();
  expect_clean();
}

TEST_F(Open, Kept_send_is_opened_when_it_is_asked_for) {
  peer.receive(1, PacketKind::hold, std::vector<std::byte>{});
  auto older = peer.cluster.send(0, 1, 4, 10);
  auto message = send();
  EXPECT_EQ(peer.memory().open_regions(), 0U);
  peer.receive(1, PacketKind::ask, wire::AskBody{0, 0}, 5);
  const wire::RtsBody body = rts();
  EXPECT_EQ(body.flags, wire::rts_early | wire::rts_open | wire::rts_puts);
  peer.receive(1, PacketKind::fin, wire::CookieBody{body.send});
  EXPECT_TRUE(message->done());
  EXPECT_EQ(peer.memory().open_regions(), 0U);
}

TEST_F(Open, Refused_memory_is_not_offered) {
  peer.memory().limit_open(bytes - 1);
  auto message = send();
  const wire::RtsBody body = rts();
  EXPECT_EQ(body.flags, 0U);
  EXPECT_EQ(peer.counters().refused, 1U);
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{body.send, 1234, bytes});
  peer.expect_stream(bytes, 9);
  expect_clean();
}

TEST_F(Open, Send_fails_when_the_peer_has_died) {
  auto message = send();
  peer.cluster.network.kill(1);
  for (unsigned i = 0; i < 5000; ++i) peer.device().progress();
  EXPECT_TRUE(message->done());
  EXPECT_EQ(message->outcome().error, base::ErrorClass::proc_failed);
  EXPECT_EQ(peer.memory().open_regions(), 0U);
}

TEST_F(Open, Several_runs_are_offered_for_a_put_alone) {
  auto message = send(Layout::runs);
  const wire::RtsBody body = rts();
  EXPECT_EQ(body.flags, wire::rts_puts);
  EXPECT_EQ(body.address, 0U);
  EXPECT_EQ(peer.opened(), 0U);
}

TEST_F(Open, Short_runs_are_not_offered) {
  auto message = send(Layout::strided);
  EXPECT_EQ(rts().flags, 0U);
}

TEST_F(Open, Offer_follows_the_way) {
  const std::vector<std::pair<RdmaProtocol, std::uint32_t>> offers = {
      {RdmaProtocol::off, 0},
      {RdmaProtocol::put, wire::rts_puts},
      {RdmaProtocol::fetch, wire::rts_open}};
  for (const auto& [way, flags] : offers) {
    peer.device().set_remote_way(way);
    auto message = send();
    EXPECT_EQ(rts().flags, flags);
  }
}

}  // namespace
}  // namespace fulmar::device
