// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/peer/drain.h"

#include <vector>

#include "protocol/remote_peer.h"

/// Whether a device knows that nothing of its messages moves, with every packet in the test's hands.
namespace fulmar::device {
namespace {

using wire::PacketKind;

/// Two devices that have talked, and a message in each direction that is not matched.
class Draining : public ::testing::Test {
 protected:
  Draining() : cluster(2), first(cluster.device(0)), second(cluster.device(1)) {
    cluster.network.set_reach(false);
    short_one = cluster.send(0, 1, 1, 8);
    long_one = cluster.send(1, 0, 2, 100'000, 2);
    cluster.settle();
    first.begin();
    second.begin();
  }
  /// One round: both send markers, and take them.
  [[nodiscard]] bool round() {
    const std::uint32_t before = first.markers_taken() + second.markers_taken();
    const std::uint32_t sent = first.send_markers() + second.send_markers();
    cluster.settle();
    EXPECT_EQ(first.markers_taken() + second.markers_taken() - before, sent);
    const bool here = first.moved();
    const bool there = second.moved();
    return here || there;
  }

  Cluster cluster;
  Drain first;
  Drain second;
  std::unique_ptr<Message> short_one;
  std::unique_ptr<Message> long_one;
};

TEST_F(Draining, The_first_round_never_ends_it) {
  EXPECT_TRUE(round());
  EXPECT_FALSE(round());
  EXPECT_FALSE(round());
}

TEST_F(Draining, A_packet_between_two_rounds_means_another_round) {
  EXPECT_TRUE(round());
  EXPECT_FALSE(round());
  auto more = cluster.send(0, 1, 3, 8);
  cluster.settle();
  EXPECT_TRUE(round());
  EXPECT_FALSE(round());
}

TEST_F(Draining, A_message_that_was_matched_moves_until_it_is_done) {
  EXPECT_TRUE(round());
  auto receive = cluster.receive(0, 1, 2, 100'000);  // asks for the bytes
  first.send_markers();
  EXPECT_TRUE(first.moved());
  cluster.settle();
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(second.moved()) << "it has been asked";
  EXPECT_TRUE(round()) << "the markers of this test";
  EXPECT_FALSE(round());
}

TEST_F(Draining, What_moves_as_the_markers_are_sent_counts_though_it_is_done_afterwards) {
  EXPECT_TRUE(round());
  EXPECT_FALSE(round());
  auto receive = cluster.receive(0, 1, 2, 100'000);
  first.send_markers();
  second.send_markers();
  cluster.settle();
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(first.moved());
}

TEST_F(Draining, Unmatched_messages_are_whole_afterwards) {
  EXPECT_TRUE(round());
  EXPECT_FALSE(round());
  first.withdraw_offers();
  second.withdraw_offers();
  first.end();
  second.end();
  auto early = cluster.receive(1, 0, 1, 8);
  auto late = cluster.receive(0, 1, 2, 100'000);
  cluster.settle();
  ASSERT_TRUE(early->done() && late->done() && long_one->done());
  EXPECT_TRUE(holds(*early, 1, 8));
  EXPECT_TRUE(holds(*late, 2, 100'000));
  EXPECT_TRUE(cluster.clean());
}

/// An announcement that offers memory to the adapter of port 0.
TEST(Offers, A_receive_after_their_withdrawal_asks_for_a_stream) {
  RemotePeer peer;
  Drain drain(peer.device());
  const std::vector<std::byte> text = text_of(9, 3 * order_bytes);
  std::vector<std::byte> memory = text;
  const fabric::MemoryRegion opened = peer.open(memory, fabric::Access::peers_read);
  peer.announce({77, address_of(memory), memory.size(), wire::rts_open, opened.rkey, 0});
  drain.withdraw_offers();
  auto receive = peer.cluster.receive(0, 1, 5, memory.size());
  EXPECT_EQ(peer.memory().under_way(), 0U) << "nothing is read by the old key";
  const auto clear = peer.expect<wire::StreamBody>(PacketKind::cts_stream);
  EXPECT_EQ(clear.send, 77U);
  peer.stream(clear.receive, text);
  EXPECT_TRUE(receive->done());
  EXPECT_TRUE(holds(*receive, 9, text.size()));
}

/// A send of port 0 that has offered its memory.
TEST(Offers, A_send_closes_its_memory) {
  RemotePeer peer;
  Drain drain(peer.device());
  auto send = peer.cluster.send(0, 1, 5, 3 * order_bytes);
  const auto rts = peer.expect<wire::RtsBody>(PacketKind::rts);
  ASSERT_NE(rts.flags & wire::rts_open, 0U);
  EXPECT_EQ(peer.device().transfers(), 1U);
  drain.withdraw_offers();
  EXPECT_EQ(peer.device().transfers(), 0U);
  EXPECT_FALSE(send->done());
  peer.receive(1, PacketKind::cts_stream, wire::StreamBody{rts.send, 5, 3 * order_bytes});
  peer.expect_stream(3 * order_bytes, 1);
  EXPECT_TRUE(send->done());
}

}  // namespace
}  // namespace fulmar::device
