// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sched.h>

#include <numeric>
#include <thread>

#include "unit/study/design_nets.h"
#include "unit/study/studied_memory.h"

/// The channel designs of the study, each over mapped memory, over writes that arrive late and in
/// halves, and over a network whose adapters write to peers' memory.
namespace fulmar::study {
namespace {

class Designs : public ::testing::TestWithParam<std::tuple<Memory, Design, Mover>> {
 protected:
  static Memory memory() { return std::get<0>(GetParam()); }
  static Design design() { return std::get<1>(GetParam()); }
  static DesignPlan plan(std::uint32_t chunk_bytes = 4096) {
    return {design(), std::get<2>(GetParam()), Bypass::no, chunk_bytes};
  }
};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> text(bytes);
  for (std::size_t i = 0; i < bytes; ++i) text[i] = content(5, i);
  return text;
}
std::vector<iovec> cut(std::vector<std::byte>& text, std::size_t piece) {
  std::vector<iovec> pieces;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    pieces.push_back({text.data() + at, std::min(piece, text.size() - at)});
  }
  return pieces;
}
const std::array<std::byte, 16> head = {std::byte{1}, std::byte{2}, std::byte{3}};

TEST_P(Designs, Packets_of_all_lengths_arrive_in_order_both_ways) {
  const auto net = make_net(memory(), plan(), 3);
  const auto limit = static_cast<std::uint32_t>(net->body_limit(0, 1));
  std::int32_t next[3][3] = {};
  const std::uint32_t sizes[] = {0, 1, 8, 39, 40, 41, 63, 64, 65, 1000, limit - 1, limit};
  // The fake network carries a packet in several looks.
  const int rounds = memory() == Memory::fake ? 6000 : 3000;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t from = 0; from < 3; ++from) {
      const std::uint32_t to = (from + 1 + static_cast<std::uint32_t>(round) % 2) % 3;
      const std::int32_t number = next[from][to];
      if (net->put(from, to, number, sizes[static_cast<std::size_t>(number) % std::size(sizes)]) ==
          Post::done) {
        ++next[from][to];
      }
      if (round % 3 != 0) net->get(to);
    }
  }
  net->settle();
  std::int32_t seen[3][3] = {};
  for (std::uint32_t to = 0; to < 3; ++to) {
    for (const Collector::Packet& packet : net->sinks[to].packets) {
      ASSERT_TRUE(sound(packet));
      ASSERT_EQ(packet.envelope.tag, seen[packet.peer][to]++);
    }
  }
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) EXPECT_EQ(seen[from][to], next[from][to]);
    EXPECT_GT(next[from][(from + 1) % 3], 100);
  }
}

TEST_P(Designs, Full_ring_takes_no_more_until_the_receiver_has_taken_some) {
  const auto net = make_net(memory(), plan());
  std::int32_t sent = 0;
  int refused = 0;
  while (refused < 50) {  // the late network needs some looks of its own
    if (net->put(0, 1, sent, 100) == Post::done) {
      ++sent;
    } else {
      ++refused;
      net->get(0);
    }
    ASSERT_LT(sent, 100000);
  }
  EXPECT_TRUE(net->sinks[1].packets.empty());
  net->settle();
  EXPECT_EQ(net->sinks[1].packets.size(), static_cast<std::size_t>(sent));
  EXPECT_EQ(net->put(0, 1, sent, 100), Post::done);
}

TEST_P(Designs, Ping_pong_costs_three_writes_a_message_basic_and_one_else) {
  const auto net = make_net(memory(), plan());
  constexpr std::int32_t rounds = 200;
  for (std::int32_t i = 0; i < rounds; ++i) {
    for (const std::uint32_t from : {0U, 1U}) {
      const std::size_t before = net->sinks[1 - from].packets.size();
      ASSERT_EQ(net->put(from, 1 - from, i, 8), Post::done);
      while (net->sinks[1 - from].packets.size() == before) net->get(1 - from);
    }
  }
  net->settle();
  const std::uint64_t writes = net->counters(0).writes + net->counters(1).writes;
  const std::uint64_t credits = net->counters(0).credit_writes + net->counters(1).credit_writes;
  constexpr std::uint64_t messages = 2 * rounds;
  EXPECT_EQ(writes, design() == Design::basic ? 3 * messages : messages);
  EXPECT_EQ(credits, design() == Design::basic ? messages : 0);
}

TEST_P(Designs, One_way_the_receiver_tells_now_and_then_alone) {
  const auto net = make_net(memory(), plan());
  constexpr std::int32_t count = 20000;
  for (std::int32_t i = 0; i < count;) {
    if (net->put(0, 1, i, 8) == Post::done) ++i;
    net->get(1);
    net->get(0);
  }
  net->settle();
  EXPECT_EQ(net->sinks[1].packets.size(), std::size_t{count});
  const std::uint64_t credits = net->counters(1).credit_writes;
  if (design() == Design::basic) {
    EXPECT_GT(credits, count / 20);  // one for each look that took something
  } else {
    // Rings in memory that adapters write to are shorter, so a quarter of one is full sooner.
    EXPECT_LT(credits, count / (memory() == Memory::fake ? 30 : 100));
    EXPECT_EQ(net->counters(0).writes, std::uint64_t{count});
  }
}

/// Sends one long packet from rank 0 to rank 1 and waits until both know of its end.
void send_long(Net& net, std::vector<std::byte>& text, std::size_t piece) {
  net.sinks[1].room.assign(text.size(), std::byte{});
  const std::vector<iovec> pieces = cut(text, piece);
  ASSERT_EQ(net.put_long(0, 1, pieces, head, 77), Post::done);
  for (int i = 0; i < 100000 && (net.sinks[0].ended.empty() || net.sinks[1].arrived < text.size());
       ++i) {
    net.get(0);
    net.get(1);
  }
  ASSERT_EQ(net.sinks[0].ended, std::vector<std::uint64_t>{77});
  ASSERT_EQ(net.sinks[1].arrived, text.size());
  EXPECT_EQ(net.sinks[1].room, text);
  EXPECT_EQ(net.sinks[1].prefix, std::vector<std::byte>(head.begin(), head.end()));
  EXPECT_EQ(net.sinks[1].envelope.length, text.size() + head.size());
  EXPECT_EQ(net.sinks[1].envelope.context, 3U);
}

TEST_P(Designs, Long_packet_is_copied_twice_or_not_at_all) {
  const auto net = make_net(memory(), plan());
  std::vector<std::byte> text = pattern((5U << 20) + 123);
  send_long(*net, text, (1U << 20) + 7);
  const DesignCounters& sender = net->counters(0);
  const DesignCounters& receiver = net->counters(1);
  if (design() == Design::zerocopy) {
    EXPECT_EQ(sender.copied_bytes + receiver.copied_bytes, 0U);
    EXPECT_EQ(sender.copies + receiver.copies, 0U);
    EXPECT_EQ(sender.moved_bytes + receiver.moved_bytes, text.size());
    EXPECT_EQ(receiver.handshakes, 1U);
    EXPECT_LE(sender.writes + receiver.writes, 4U);
  } else {
    EXPECT_EQ(sender.copied_bytes, text.size());
    EXPECT_EQ(receiver.copied_bytes, text.size());
    EXPECT_EQ(sender.moved_bytes + receiver.moved_bytes + receiver.handshakes, 0U);
  }
}

TEST_P(Designs, Second_long_packet_waits_for_the_end_of_the_first) {
  const auto net = make_net(memory(), plan());
  std::vector<std::byte> text = pattern(5U << 20);
  const std::vector<iovec> pieces = cut(text, text.size());
  net->sinks[1].room.resize(text.size());
  ASSERT_EQ(net->put_long(0, 1, pieces, head, 1), Post::done);
  EXPECT_EQ(net->put_long(0, 1, pieces, head, 2), Post::again);
  net->settle();
  EXPECT_EQ(net->sinks[0].ended, std::vector<std::uint64_t>{1});
  EXPECT_EQ(net->put_long(0, 1, pieces, head, 2), Post::done);
}

TEST_P(Designs, Short_packets_pass_between_the_chunks_of_a_long_one) {
  const auto net = make_net(memory(), plan());
  std::vector<std::byte> text = pattern(5U << 20);
  const std::vector<iovec> pieces = cut(text, text.size());
  net->sinks[1].room.resize(text.size());
  ASSERT_EQ(net->put_long(0, 1, pieces, head, 1), Post::done);
  std::int32_t number = 0;
  while (net->sinks[1].arrived < text.size()) {
    if (net->put(0, 1, number, 8) == Post::done) ++number;
    net->get(1);
    net->get(0);
  }
  net->settle();
  EXPECT_EQ(net->sinks[1].room, text);
  EXPECT_GT(number, 0);
  ASSERT_EQ(net->sinks[1].packets.size(), static_cast<std::size_t>(number));
  for (const Collector::Packet& packet : net->sinks[1].packets) EXPECT_TRUE(sound(packet));
}

/// Both sides fill the other's ring all the time, so answers about long packets wait for room.
TEST_P(Designs, Long_packets_one_after_the_other_end_between_full_rings) {
  const auto net = make_net(memory(), plan(1024), 2, (1U << 20) + (192U << 10));
  std::vector<std::byte> text = pattern(20'000);
  const std::vector<iovec> pieces = cut(text, text.size());
  for (LongCollector& sink : net->sinks) sink.room.resize(text.size());
  std::uint64_t posted[2] = {};
  std::int32_t number[2] = {};
  for (unsigned round = 0; round < 100'000 && posted[0] + posted[1] < 80; ++round) {
    for (const std::uint32_t from : {0U, 1U}) {
      if (posted[from] < 40 &&
          net->put_long(from, 1 - from, pieces, head, posted[from]) == Post::done) {
        ++posted[from];
      }
      for (unsigned i = 0; i < 100 && net->put(from, 1 - from, number[from], 8) == Post::done;
           ++i) {
        ++number[from];
      }
    }
    net->get(round / 7 % 2);
    if (round % 5 == 0) net->get(1 - round / 7 % 2);
  }
  net->settle();
  for (const std::uint32_t rank : {0U, 1U}) {
    EXPECT_EQ(posted[rank], 40U);
    EXPECT_EQ(net->sinks[rank].ended.size(), posted[rank]);
    EXPECT_EQ(net->sinks[rank].arrived, posted[1 - rank] * text.size());
    EXPECT_EQ(net->sinks[rank].packets.size(), static_cast<std::size_t>(number[1 - rank]));
  }
}

TEST_P(Designs, Receiver_with_tiny_pieces_gets_the_bytes_by_copy) {
  const auto net = make_net(memory(), plan());
  net->sinks[1].piece_bytes = 0;
  std::vector<std::byte> text = pattern(300000);
  send_long(*net, text, text.size());
  EXPECT_EQ(net->sinks[1].placed_bytes, 0U);
  EXPECT_EQ(net->counters(1).copied_bytes, text.size());
}

TEST_P(Designs, Many_pieces_on_both_sides_fit_together) {
  const auto net = make_net(memory(), plan());
  net->sinks[1].piece_bytes = 4099;
  std::vector<std::byte> text = pattern(1000003);
  send_long(*net, text, 16411);
}

TEST_P(Designs, Memory_that_cannot_be_reached_is_copied) {
  const auto net = make_net(memory(), plan());
  net->close_memory();
  std::vector<std::byte> text = pattern(300000);
  send_long(*net, text, text.size());
  EXPECT_EQ(net->counters(1).copied_bytes, text.size());
}

TEST_P(Designs, Failure_in_the_middle_goes_on_by_copy) {
  const auto net = make_net(memory(), plan());
  net->fail_moves();
  net->sinks[1].piece_bytes = 700000;
  std::vector<std::byte> text = pattern(5U << 20);
  send_long(*net, text, 600000);
  if (design() == Design::zerocopy) {
    EXPECT_LT(net->counters(1).copied_bytes, text.size() + 1);
    EXPECT_GT(net->counters(1).copied_bytes, 0U);
  }
}

TEST_P(Designs, Small_memory_and_large_chunks_still_make_eight_slots) {
  const std::uint64_t area = DesignChannel<StudiedPort>::layout_of(2, 16U << 20).begin;
  const auto net = make_net(memory(), plan(1U << 20), 2, area + (24U << 10));
  ASSERT_GE(net->body_limit(0, 1), std::size_t{least_chunk_bytes});
  std::vector<std::byte> text = pattern(100000);
  send_long(*net, text, text.size());
}

std::string name_of(const ::testing::TestParamInfo<Designs::ParamType>& info) {
  const char* designs[] = {"basic", "piggyback", "pipeline", "zerocopy"};
  const auto [memory, design, mover] = info.param;
  return std::string(designs[static_cast<int>(design)]) +
         (mover == Mover::sender_writes ? "_by_write" : "") +
         (memory == Memory::fake   ? "_fake"
          : memory == Memory::late ? "_late"
                                   : "_mapped");
}
INSTANTIATE_TEST_SUITE_P(Channel, Designs,
                         ::testing::Combine(::testing::Values(Memory::mapped, Memory::late,
                                                              Memory::fake),
                                            ::testing::Values(Design::basic, Design::piggyback,
                                                              Design::pipeline, Design::zerocopy),
                                            ::testing::Values(Mover::receiver_reads)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ByWrite, Designs,
                         ::testing::Combine(::testing::Values(Memory::mapped, Memory::late,
                                                              Memory::fake),
                                            ::testing::Values(Design::zerocopy),
                                            ::testing::Values(Mover::sender_writes)),
                         name_of);

TEST(Pipeline, First_chunk_is_seen_before_the_last_is_copied) {
  for (const Design design : {Design::piggyback, Design::pipeline}) {
    PlainMemory memory(2, 16U << 20);
    StudiedPort ports[] = {{memory, 0}, {memory, 1}};
    DesignChannel<StudiedPort> sender(ports[0]);
    DesignChannel<StudiedPort> receiver(ports[1]);
    const DesignPlan plan{design, Mover::receiver_reads, Bypass::no, 4096};
    sender.choose(plan);
    receiver.choose(plan);
    receiver.announce_sleep();
    // The receiver is woken by the first write. What is there then?
    LongCollector sink;
    std::uint64_t seen_first = 0;
    bool woken = false;
    ports[0].on_wake = [&] {
      if (woken) return;
      woken = true;
      while (receiver.get(sink) != 0) {
      }
      seen_first = sink.arrived;
    };
    auto link = sender.connect(1);  // wakes for the doorbell
    woken = false;
    receiver.announce_sleep();
    std::vector<std::byte> text = pattern(100000);
    sink.room.resize(text.size());
    const std::vector<iovec> pieces = cut(text, text.size());
    ASSERT_EQ(sender.post_in_place(1, {wire::PacketKind::data, 0, 0, 0, 100016}, head, pieces, 1),
              Post::done);
    if (design == Design::pipeline) {
      EXPECT_LE(seen_first, 4096U);
    } else {
      EXPECT_EQ(seen_first, text.size());
    }
  }
}

TEST(PipeLayout, Pipes_of_all_pairs_fit_and_do_not_overlap) {
  for (const std::uint32_t ranks : {2U, 3U, 17U, 64U}) {
    const std::uint64_t area = 64U << 20;
    const PipeLayout layout = DesignChannel<StudiedPort>::layout_of(ranks, area);
    ASSERT_NE(layout.pipe_bytes, 0U) << ranks;
    std::vector<std::uint64_t> offsets;
    for (std::uint32_t sender = 0; sender < ranks; ++sender) {
      if (sender != 1) offsets.push_back(layout.offset(1, sender));
    }
    for (std::size_t i = 1; i < offsets.size(); ++i) {
      EXPECT_EQ(offsets[i], offsets[i - 1] + layout.pipe_bytes);
    }
    EXPECT_GE(offsets.front(), wire::AreaLayout::fit(ranks, area).rings);
    EXPECT_LE(offsets.back() + layout.pipe_bytes, area);
    EXPECT_LE(sizeof(wire::PipeControl) + layout.ring_bytes, layout.pipe_bytes);
  }
}
TEST(PipeLayout, Without_room_there_are_no_pipes) {
  EXPECT_EQ(PipeLayout::fit(2, 4096, 8192).pipe_bytes, 0U);
  EXPECT_EQ(PipeLayout::fit(2, 8192, 4096).pipe_bytes, 0U);
}

/// Two ranks that really run at the same time.
class DesignThreads : public ::testing::TestWithParam<std::tuple<Design, Mover>> {};

void exchange(DesignChannel<StudiedPort>& channel, LongCollector& sink, std::uint32_t peer,
              std::int32_t count, std::vector<std::byte>& text) {
  auto link = channel.connect(peer);
  const std::vector<iovec> pieces = cut(text, text.size() / 3 + 1);
  std::int32_t sent = 0;
  std::uint64_t longs = 0;
  const auto all = static_cast<std::uint64_t>(count) / 100;
  while (sent < count || sink.packets.size() < static_cast<std::size_t>(count) ||
         sink.arrived < all * text.size() || sink.ended.size() < all) {
    if (sent < count &&
        put(channel, *link, sent, static_cast<std::uint32_t>(sent) % 3000) == Post::done) {
      ++sent;
    }
    if (longs < all &&
        channel.post_in_place(
            peer, {wire::PacketKind::data, 0, 0, 0, static_cast<std::uint32_t>(16 + text.size())},
            head, pieces, longs) == Post::done) {
      ++longs;
    }
    if (channel.get(sink) == 0) ::sched_yield();
  }
  channel.get(sink);
}

TEST_P(DesignThreads, Both_ways_short_and_long_at_once) {
  const auto [design, mover] = GetParam();
  PlainMemory memory(2, 16U << 20);
  std::vector<std::byte> text = pattern(200001);
  LongCollector sinks[2];
  const auto run = [&, design = design, mover = mover](std::uint32_t self) {
    StudiedPort port(memory, self);
    DesignChannel<StudiedPort> channel(port);
    channel.choose({design, mover, Bypass::no, 8192});
    sinks[self].room.resize(text.size());
    exchange(channel, sinks[self], 1 - self, 3000, text);
    // The other one may still wait for what only this one can write.
    for (int i = 0; i < 1000; ++i) channel.get(sinks[self]);
  };
  std::thread other(run, 1);
  run(0);
  other.join();
  for (const LongCollector& sink : sinks) {
    EXPECT_EQ(sink.room, text);
    std::int32_t next = 0;
    for (const Collector::Packet& packet : sink.packets) {
      ASSERT_TRUE(sound(packet));
      ASSERT_EQ(packet.envelope.tag, next++);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Channel, DesignThreads,
                         ::testing::Combine(::testing::Values(Design::basic, Design::piggyback,
                                                              Design::pipeline, Design::zerocopy),
                                            ::testing::Values(Mover::receiver_reads,
                                                              Mover::sender_writes)));

}  // namespace
}  // namespace fulmar::study
