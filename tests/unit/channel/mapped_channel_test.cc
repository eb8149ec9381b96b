// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "channel/mapped_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "unit/channel/plain_memory.h"

namespace fulmar::channel {
namespace {

using fabric::Post;

TEST(AreaLayout, Too_small_for_the_mailboxes_is_empty) {
  EXPECT_EQ(wire::AreaLayout::fit(10, 4096).bytes, 0U);
}
TEST(AreaLayout, Without_rings_the_mailboxes_keep_their_place) {
  const wire::AreaLayout layout = wire::AreaLayout::fit(10, area_for(10, 0));
  EXPECT_EQ(layout.ring_count, 0U);
  EXPECT_GE(layout.mailboxes, sizeof(wire::AreaControl));
}
TEST(AreaLayout, Parts_do_not_overlap_and_fit) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 65U, 4097U, 65536U}) {
    for (const std::uint64_t mib : {1U, 5U, 8U, 32U, 300U}) {
      const auto layout = wire::AreaLayout::fit(ranks, mib << 20);
      if (layout.bytes == 0) continue;
      EXPECT_LE(layout.bytes, mib << 20);
      EXPECT_GE(layout.claims, layout.mailboxes + ranks * sizeof(wire::Mailbox));
      EXPECT_GE(layout.rings, layout.claims + ranks * 4);
      EXPECT_EQ(layout.rings % 64, 0U);
      EXPECT_EQ(layout.ring_bytes() % 64, 0U);
    }
  }
}

TEST(MappedChannel, First_short_packet_uses_the_mailbox_and_claims_nothing) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  EXPECT_EQ(put(*ranks.channels[1], *link, 1, 48), Post::done);
  EXPECT_FALSE(link->tx.is_open());
  const auto packets = ranks.get();
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_TRUE(sound(packets[0]));
  EXPECT_EQ(ranks.channels[0]->rings_polled(), 0U);
}

/// A poll before a sleep may be the one that opens a ring, and the sender has not seen the sleep announced.
TEST(MappedChannel, Packets_in_a_new_ring_are_taken_by_the_poll_that_opens_it) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  ASSERT_EQ(put(*ranks.channels[1], *link, 1, 3000), Post::done);
  ASSERT_EQ(put(*ranks.channels[1], *link, 2, 8), Post::done);
  ASSERT_EQ(ranks.channels[0]->rings_polled(), 0U);
  const auto packets = ranks.get();
  ASSERT_EQ(packets.size(), 2U);
  EXPECT_TRUE(sound(packets[0]) && sound(packets[1]));
}

TEST(MappedChannel, Bodies_around_every_limit_arrive) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  ASSERT_EQ(put(*ranks.channels[1], *link, 0, 1), Post::done);
  ASSERT_EQ(put(*ranks.channels[1], *link, 0, 1), Post::done);
  ranks.get();
  ranks.get();
  const auto limit = link->tx.body_limit();
  std::int32_t number = 0;
  for (const std::uint32_t bytes :
       {0U, 1U, 47U, 48U, 49U, 63U, 64U, 65U, 4095U, 4096U, limit - 1, limit}) {
    ASSERT_EQ(put(*ranks.channels[1], *link, ++number, bytes), Post::done);
    const auto packets = ranks.get();
    ASSERT_EQ(packets.size(), 1U) << bytes;
    EXPECT_EQ(packets[0].body.size(), bytes);
    EXPECT_TRUE(sound(packets[0])) << bytes;
  }
}

TEST(MappedChannel, Order_holds_from_mailbox_to_ring) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  for (std::int32_t i = 0; i < 5; ++i) ASSERT_EQ(put(*ranks.channels[1], *link, i, 8), Post::done);
  std::vector<Collector::Packet> all;
  for (unsigned i = 0; i < 3; ++i) {
    for (auto& packet : ranks.get()) all.push_back(packet);
  }
  ASSERT_EQ(all.size(), 5U);
  for (std::int32_t i = 0; i < 5; ++i) EXPECT_EQ(all[std::size_t(i)].envelope.tag, i);
}

TEST(MappedChannel, Sender_is_refused_at_256_packets_and_goes_on_after_a_look) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  std::int32_t sent = 0;
  while (put(*ranks.channels[1], *link, sent, 8) == Post::done) ++sent;
  EXPECT_EQ(sent, 257);  // one in the mailbox
  std::int32_t taken = 0;
  while (taken < 100) {
    for (const auto& packet : ranks.get()) EXPECT_EQ(packet.envelope.tag, taken++);
  }
  EXPECT_EQ(put(*ranks.channels[1], *link, sent, 8), Post::done);
}

/// Past the laps of 16 bits, with sizes that make the data part wrap at every possible place.
TEST(MappedChannel, Laps_and_data_wrap_without_damage) {
  Ranks ranks(2, area_for(2, 1));
  auto link = ranks.link(1);
  const std::uint32_t packets = 100000;
  std::int32_t taken = 0;
  std::uint32_t mixed = 12345;
  for (std::int32_t sent = 0; taken < static_cast<std::int32_t>(packets);) {
    for (;;) {
      mixed = mixed * 1664525 + 1013904223;
      const std::uint32_t bytes = sent % 64 != 0 ? 0 : (mixed >> 8) % 8193;
      if (put(*ranks.channels[1], *link, sent, bytes) == Post::again) break;
      ++sent;
    }
    for (const auto& packet : ranks.get()) {
      ASSERT_EQ(packet.envelope.tag, taken);
      ASSERT_TRUE(sound(packet)) << taken;
      ++taken;
    }
  }
}

TEST(MappedChannel, Short_bodies_stay_in_warm_memory_while_the_receiver_keeps_up) {
  Ranks ranks(2, 32U << 20);
  auto link = ranks.link(1);
  for (std::int32_t sent = 0; sent < 3000; ++sent) {
    ASSERT_EQ(put(*ranks.channels[1], *link, sent, 1000), Post::done);
    auto packets = ranks.get();
    if (packets.empty())
      packets = ranks.get();  // the first look finds the announcement of the ring
    ASSERT_EQ(packets.size(), 1U);
    ASSERT_TRUE(sound(packets[0])) << sent;
  }
  ASSERT_GE(4 * link->tx.body_limit(), 512U << 10);
  const auto* data = reinterpret_cast<const std::byte*>(&link->tx.ring() + 1);
  const auto touched = [&](std::size_t at) {
    return std::any_of(data + at, data + at + 4096, [](std::byte b) { return b != std::byte{0}; });
  };
  EXPECT_TRUE(touched(0));
  EXPECT_TRUE(touched(warm_bytes - 4096));
  EXPECT_FALSE(touched(2 * std::size_t{warm_bytes}));
  EXPECT_FALSE(touched(4 * std::size_t{warm_bytes}));
}

/// Short and long bodies, and a receiver that is now behind and now not: every place to restart.
TEST(MappedChannel, Restarts_lose_nothing_among_laps) {
  Ranks ranks(2, 32U << 20);
  auto link = ranks.link(1);
  std::int32_t sent = 0;
  std::int32_t taken = 0;
  std::uint32_t mixed = 4711;
  while (taken < 60000) {
    mixed = mixed * 1664525 + 1013904223;
    for (std::uint32_t burst = (mixed >> 8) % 200 + 1; burst != 0; --burst) {
      mixed = mixed * 1664525 + 1013904223;
      const std::uint32_t bytes = (mixed >> 8) % (sent % 100 == 0 ? 100000 : 2100);
      if (put(*ranks.channels[1], *link, sent, bytes) == Post::again) break;
      ++sent;
    }
    for (std::uint32_t looks = mixed % 8; looks != 0; --looks) {
      for (const auto& packet : ranks.get()) {
        ASSERT_EQ(packet.envelope.tag, taken);
        ASSERT_TRUE(sound(packet)) << taken;
        ++taken;
      }
    }
  }
}

/// The words of a ring whose lap number starts over.
TEST(MappedChannel, Lap_number_starts_over) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "17 million packets in one thread take too long here and show no race";
#endif
  Ranks ranks(2);
  wire::Ring& ring = ranks.memory.ring(0, 0);
  TxRing tx;
  tx.open(ring, 32U << 10, CutThrough::off);
  RxRing rx(ring, 32U << 10, 1, 0);
  const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, 0, 0};
  for (std::uint32_t i = 0; i < 65536U * 256 + 1000; ++i) {
    ASSERT_FALSE(rx.ready()) << i;
    ASSERT_EQ(tx.put(envelope, [](auto, auto) {}), Post::done);
    ASSERT_TRUE(rx.ready()) << i;
    ASSERT_TRUE(rx.get([](const auto&, const auto&) {}));
    if (rx.should_publish()) rx.publish();
  }
}

TEST(MappedChannel, Peers_without_a_ring_use_their_mailboxes) {
  Ranks ranks(4, area_for(4, 1));
  ASSERT_EQ(ranks.memory.layout().ring_count, 1U);
  std::vector<std::unique_ptr<MappedLink>> links;
  std::vector<std::int32_t> sent(4);
  std::vector<std::int32_t> taken(4);
  for (std::uint32_t rank = 0; rank < 4; ++rank) links.push_back(ranks.link(rank));
  for (unsigned round = 0; round < 200; ++round) {
    for (std::uint32_t rank = 1; rank < 4; ++rank) {
      if (put(*ranks.channels[rank], *links[rank], sent[rank], 8) == Post::done) ++sent[rank];
      const bool is_short = ranks.channels[rank]->body_limit(*links[rank], 1000) == 48;
      EXPECT_EQ(is_short, !links[rank]->tx.is_open());
    }
    for (const auto& packet : ranks.get()) EXPECT_EQ(packet.envelope.tag, taken[packet.peer]++);
  }
  for (std::uint32_t rank = 1; rank < 4; ++rank) EXPECT_GE(taken[rank], 100);
}

TEST(MappedChannel, Area_without_rings_carries_short_packets) {
  Ranks ranks(2, area_for(2, 0));
  auto link = ranks.link(1);
  for (std::int32_t i = 0; i < 10; ++i) {
    ASSERT_EQ(put(*ranks.channels[1], *link, i, 48), Post::done);
    ASSERT_EQ(put(*ranks.channels[1], *link, i, 48), Post::again);
    const auto packets = ranks.get();
    ASSERT_EQ(packets.size(), 1U);
    EXPECT_TRUE(sound(packets[0]));
  }
}

/// The only ring is idle and another sender wants it: it is given back and claimed anew, and no
/// packet of its first owner is lost or late.
TEST(MappedChannel, Idle_ring_changes_hands_in_order) {
  Ranks ranks(3, area_for(3, 1));
  auto first = ranks.link(1);
  auto second = ranks.link(2);
  for (std::int32_t i = 0; i < 3; ++i) ASSERT_EQ(put(*ranks.channels[1], *first, i, 8), Post::done);
  ranks.get();
  ranks.get();
  ASSERT_TRUE(first->tx.is_open());
  ASSERT_EQ(put(*ranks.channels[2], *second, 0, 8), Post::done);
  ranks.get();
  ASSERT_EQ(ranks.channels[2]->body_limit(*second, 1000), 48U);  // asks for a ring in vain
  for (unsigned i = 0; i < 3; ++i) {
    ranks.channels[0]->balance();
    ranks.memory.control(0).rings_wanted = 1;
  }
  ranks.channels[1]->balance();
  EXPECT_FALSE(first->tx.is_open());
  EXPECT_EQ(put(*ranks.channels[1], *first, 3, 8), Post::again);  // the old ring must be out first
  EXPECT_TRUE(ranks.get().empty());
  EXPECT_EQ(ranks.channels[0]->rings_polled(), 0U);
  ASSERT_EQ(put(*ranks.channels[2], *second, 1, 8), Post::done);
  EXPECT_TRUE(second->tx.is_open());
  ASSERT_EQ(put(*ranks.channels[1], *first, 3, 8), Post::done);
  std::vector<Collector::Packet> all;
  for (unsigned i = 0; i < 3; ++i) {
    for (auto& packet : ranks.get()) all.push_back(packet);
  }
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(sound(all[0]) && sound(all[1]));
}

/// A rank that sleeps is woken and polls once; rings change hands within that poll.
void poll_once(Ranks& ranks, std::uint32_t rank) {
  ranks.memory.control(rank).asleep = 0;
  Collector collector;
  ranks.channels[rank]->get(collector);
}

/// Everybody sleeps but who was woken, and looks once then: nobody waits for a periodic look.
TEST(MappedChannel, Ring_is_handed_on_by_who_is_woken_for_it) {
  Ranks ranks(4, area_for(4, 1));
  std::vector<std::unique_ptr<MappedLink>> links;
  for (std::uint32_t rank = 0; rank < 4; ++rank) links.push_back(ranks.link(rank, rank == 0));
  const auto is_awake = [&](std::uint32_t rank) {
    return ranks.memory.control(rank).asleep.load() == 0;
  };
  for (std::int32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(put(*ranks.channels[1], *links[1], i, 8), Post::done);
  }
  ranks.get();
  ranks.get();
  for (std::uint32_t rank = 2; rank < 4; ++rank) {
    ASSERT_EQ(put(*ranks.channels[rank], *links[rank], 0, 1000), Post::again);
  }
  for (std::uint32_t rank = 1; rank < 4; ++rank) ranks.channels[rank]->announce_sleep();
  std::array<bool, 4> sent{};
  for (int turn = 0; turn < 20; ++turn) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      if (!is_awake(rank)) continue;
      poll_once(ranks, rank);
      if (rank >= 2 && !sent[rank]) {
        sent[rank] = put(*ranks.channels[rank], *links[rank], 0, 1000) == Post::done;
      }
      ranks.channels[rank]->announce_sleep();
    }
  }
  EXPECT_TRUE(sent[2]);
  EXPECT_TRUE(sent[3]);
}

/// The sender puts one more packet into the mailbox and then claims a ring, all between the
/// receiver's look at the mailbox and its look at the claims.
TEST(MappedChannel, Ring_is_not_read_before_the_mailbox) {
  Ranks ranks(3, area_for(3, 1));
  auto link = ranks.link(1);
  ranks.memory.control(0).ring_owner[0] = 3;  // rank 2 has the only ring
  ASSERT_EQ(put(*ranks.channels[1], *link, 0, 8), Post::done);
  ranks.memory.control(1).asleep = 1;
  ranks.ports[0]->on_wake = [&] {
    ASSERT_EQ(put(*ranks.channels[1], *link, 1, 8), Post::done);
    ranks.memory.control(0).ring_owner[0] = 0;
    ASSERT_EQ(put(*ranks.channels[1], *link, 2, 8), Post::done);
    ASSERT_TRUE(link->tx.is_open());
  };
  std::vector<std::int32_t> tags;
  for (unsigned i = 0; i < 4; ++i) {
    for (const auto& packet : ranks.get()) tags.push_back(packet.envelope.tag);
  }
  EXPECT_EQ(tags, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(MappedChannel, Doorbells_of_many_ranks_are_heard) {
  PlainMemory memory(5000, std::uint64_t{1} << 20);
  Port receiver_port(memory, 0);
  MappedChannel<Port> receiver(receiver_port);
  for (const std::uint32_t rank : {1U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 4999U}) {
    Port port(memory, rank);
    MappedChannel<Port> sender(port);
    auto link = sender.connect(0);
    ASSERT_EQ(put(sender, *link, static_cast<std::int32_t>(rank), 8), Post::done);
    Collector collector;
    receiver.get(collector);
    ASSERT_EQ(collector.packets.size(), 1U) << rank;
    EXPECT_EQ(collector.packets[0].peer, rank);
  }
}

TEST(MappedChannel, Sleeping_receiver_is_woken_by_mailbox_and_ring) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  for (std::int32_t i = 0; i < 3; ++i) {
    ranks.channels[0]->announce_sleep();
    ASSERT_EQ(put(*ranks.channels[1], *link, i, 8), Post::done);
    EXPECT_EQ(ranks.memory.control(0).asleep.load(), 0U) << i;
    ranks.get();
  }
}

TEST(MappedChannel, Sender_that_wants_credit_is_woken) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  std::int32_t sent = 0;
  while (put(*ranks.channels[1], *link, sent, 8) == Post::done) ++sent;
  ranks.channels[1]->announce_sleep();
  ranks.channels[1]->want_credit(*link);
  for (unsigned i = 0; i < 4; ++i) ranks.get();
  EXPECT_EQ(ranks.memory.control(1).asleep.load(), 0U);
}

// --- what a hostile peer may write
// ----------------------------------------------------------------

TEST(Hostile, Consumed_out_of_range_is_ignored) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  std::int32_t sent = 0;
  while (put(*ranks.channels[1], *link, sent, 8) == Post::done) ++sent;
  for (const std::uint32_t value : {257U, 1000000U, ~0U, 0x80000000U}) {
    link->tx.ring().consumed.store(value);
    EXPECT_EQ(put(*ranks.channels[1], *link, 0, 8), Post::again) << value;
  }
}

TEST(Hostile, Length_beyond_the_limit_closes_the_ring) {
  Ranks ranks(2);
  auto link = ranks.link(1);
  for (std::int32_t i = 0; i < 2; ++i) ASSERT_EQ(put(*ranks.channels[1], *link, i, 8), Post::done);
  ranks.get();
  ranks.get();
  ASSERT_EQ(ranks.channels[0]->rings_polled(), 1U);
  const auto index = ranks.memory.claim(0, 1).load() - 1;
  ranks.memory.ring(0, index).cells[1].word.store(
      wire::pack_word(1, wire::PacketKind::eager, 0, ~0U));
  EXPECT_TRUE(ranks.get().empty());
  EXPECT_EQ(ranks.channels[0]->rings_polled(), 0U);
}

TEST(Hostile, Mailbox_with_a_long_length_is_emptied_and_dropped) {
  Ranks ranks(2);
  ranks.memory.mailbox(0, 1).cell.word.store(wire::pack_word(1, wire::PacketKind::eager, 0, 49));
  ranks.memory.control(0).doorbell[0].store(2);
  ranks.memory.control(0).doorbell_summary[0].store(1);
  EXPECT_TRUE(ranks.get().empty());
  EXPECT_EQ(ranks.memory.mailbox(0, 1).cell.word.load(), 0U);
}

TEST(Hostile, Claims_and_doorbells_that_name_nothing_are_ignored) {
  Ranks ranks(3);
  for (const std::uint32_t claim : {1U, 3U, 129U, ~0U}) {
    ranks.memory.claim(0, 1).store(claim);  // never owned
    for (auto& word : ranks.memory.control(0).doorbell) word.store(~std::uint64_t{0});
    for (auto& word : ranks.memory.control(0).doorbell_summary) word.store(~std::uint64_t{0});
    EXPECT_TRUE(ranks.get().empty());
    EXPECT_EQ(ranks.channels[0]->rings_polled(), 0U) << claim;
  }
}

}  // namespace
}  // namespace fulmar::channel
