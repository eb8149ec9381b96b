// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <numeric>

#include "unit/fabric/bundle_net.h"

/// Bundles whose rails are queues.
namespace fulmar::fabric {
namespace {

std::vector<std::int32_t> counting(std::int32_t count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Bundle, Packets_keep_their_order_on_one_rail) {
  BundlePair pair(3);
  for (std::int32_t i = 0; i < 300; ++i) {
    ASSERT_EQ(pair.send(0, i), Post::done);
    if (i % 7 == 0) pair.poll();
  }
  pair.settle();
  EXPECT_EQ(pair.tags(1), counting(300));
  EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
}

TEST(Bundle, One_rail_in_common_carries_packets_unchanged) {
  BundlePair pair(1);
  ASSERT_EQ(pair.send(0, 4, 100), Post::done);
  ASSERT_EQ(pair.lines[0].queue[1].size(), 1U);
  EXPECT_EQ(pair.lines[0].queue[1].front().bytes.size(), 100U);
  LongMessage message(pair, 1, 35'000);
  message.carry(pair, [](unsigned) {});
  message.expect_arrived(pair);
  EXPECT_EQ(pair.ranks[0].bundle->pairs().budget().used_bytes, 0U);
}

TEST(Bundle, Kept_packets_are_bounded_and_freed_by_acknowledgements) {
  BundlePair pair(2, 64U << 10);
  unsigned taken = 0;
  while (pair.send(0, static_cast<std::int32_t>(taken), 1000) == Post::done) ++taken;
  EXPECT_GT(taken, 20U);
  EXPECT_LT(taken, 66U);
  EXPECT_LE(pair.ranks[0].bundle->pairs().budget().used_bytes, 64U << 10);
  pair.settle();
  EXPECT_EQ(pair.tags(1), counting(static_cast<std::int32_t>(taken)));
  for (std::int32_t i = 0; i < 20; ++i) EXPECT_EQ(pair.send(0, i, 1000), Post::done) << i;
}

TEST(Bundle, Silent_receiver_tells_how_far_it_is_after_a_quarter) {
  BundlePair pair(2);
  for (std::int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(pair.send(0, i, 8), Post::done) << i;
    pair.poll();
  }
  EXPECT_EQ(pair.tags(1), counting(5000));
  EXPECT_LE(pair.ranks[1].bundle->pairs().counters().acks, 5000U / 256);
}

TEST(Bundle, Answers_carry_acknowledgements_for_nothing) {
  BundlePair pair(2);
  for (std::int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(pair.send(0, i, 8), Post::done) << i;
    pair.poll();
    ASSERT_EQ(pair.send(1, i, 8), Post::done) << i;
    pair.poll();
  }
  EXPECT_EQ(pair.ranks[0].bundle->pairs().counters().acks, 0U);
  EXPECT_EQ(pair.ranks[1].bundle->pairs().counters().acks, 0U);
}

TEST(Bundle, Long_message_takes_rails_by_their_speed) {
  for (const std::size_t ratio : {1U, 3U, 10U}) {
    BundlePair pair(2);
    pair.lines[0].bytes_per_tick = 10'000 * ratio;
    pair.lines[1].bytes_per_tick = 10'000;
    LongMessage message(pair, 1, 20'000'000);
    unsigned polls = 0;
    message.carry(pair, [&](unsigned i) { polls = i; });
    message.expect_arrived(pair);
    const double got = static_cast<double>(pair.lines[0].carried[1]) /
                       static_cast<double>(pair.lines[1].carried[1]);
    EXPECT_GT(got, static_cast<double>(ratio) * 0.75) << ratio;
    EXPECT_LT(got, static_cast<double>(ratio) * 1.15) << ratio;
    const double ideal = 20'000'000.0 / (10'000.0 * static_cast<double>(ratio + 1));
    EXPECT_LT(polls, ideal * 1.1 + 40) << ratio;
    const auto stats = pair.ranks[0].bundle->pairs().stats_of(1);
    ASSERT_EQ(stats.size(), 2U);
    EXPECT_NEAR(stats[1].bytes_per_second, 1e7, 3e6);
    EXPECT_GE(stats[0].sent_bytes + stats[1].sent_bytes, 20'000'000U);
  }
}

TEST(Bundle, A_rail_has_no_more_under_way_than_it_needs) {
  BundlePair pair(2);
  pair.lines[0].bytes_per_tick = 100'000;
  pair.lines[1].bytes_per_tick = 10'000;
  LongMessage message(pair, 1, 5'000'000);
  message.carry(pair, [&](unsigned) {
    std::size_t waiting = 0;
    for (const auto& item : pair.lines[1].queue[1]) waiting += item.bytes.size();
    ASSERT_LT(waiting, bundle::Speed::least_under_way_bytes + 20'000);
  });
  message.expect_arrived(pair);
}

TEST(Bundle, Rail_that_dies_in_mid_message_is_dropped) {
  // At every stage of the message, either side first.
  for (unsigned when = 0; when < 40; when += 3) {
    for (const std::uint32_t first : {0U, 1U}) {
      for (const std::size_t rail : {0U, 1U}) {
        BundlePair pair(2);
        for (TestLine& line : pair.lines) line.bytes_per_tick = 10'000;
        pair.lines[rail].step_bytes = 999;
        pair.ranks[1].answer_bytes = 2500;
        ASSERT_EQ(pair.send(0, 0), Post::done);
        LongMessage message(pair, 1, 1'000'000);
        message.carry(pair, [&](unsigned i) {
          if (i == when) pair.lines[rail].cut();
          if (i == when + 5) pair.lines[rail].notice(first);
        });
        message.expect_arrived(pair);
        ASSERT_EQ(pair.send(0, 1), Post::done);
        ASSERT_EQ(pair.send(1, 2), Post::done);
        pair.settle();
        EXPECT_EQ(pair.tags(1), counting(2));
        EXPECT_EQ(pair.tags(0), (std::vector<std::int32_t>{2}));
        EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
        EXPECT_FALSE(pair.ranks[0].bundle->pairs().stats_of(1)[rail].is_up);
        EXPECT_EQ(pair.ranks[0].bundle->pairs().counters().dropped_rails, 1U);
        EXPECT_EQ(pair.ranks[1].bundle->pairs().counters().dropped_rails, 1U);
      }
    }
  }
}

TEST(Bundle, Pieces_wait_until_both_sides_have_ended_the_rail) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  pair.poll();
  LongMessage message(pair, 1, 100'000);
  // What is sent over rail 1 stays in the line, as in the socket of a receiver that does not read.
  pair.lines[1].budget[1] = 0;
  pair.lines[1].bytes_per_tick = 0;
  ASSERT_TRUE(message.step(pair));
  ASSERT_FALSE(pair.lines[1].queue[1].empty());
  pair.lines[1].notice(0);
  for (int i = 0; i < 10; ++i) pair.poll(0);
  // The receiver has not said anything: it may still read them from there.
  const auto& counters = pair.ranks[0].bundle->pairs().counters();
  EXPECT_EQ(counters.resent_pieces, 0U);
  for (int i = 0; i < 200 && counters.resent_pieces == 0; ++i) {
    pair.poll(1);
    pair.poll(0);
  }
  EXPECT_GT(counters.resent_pieces, 0U);
  EXPECT_FALSE(pair.lines[0].holds[0]) << "the program may compute next";
  pair.settle();
  message.expect_arrived(pair);
}

TEST(Bundle, No_byte_is_told_of_twice) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  pair.settle();
  LongMessage message(pair, 1, 60'000);
  pair.ranks[1].answer_bytes = 0;
  for (TestLine& line : pair.lines) line.bytes_per_tick = line.budget[1] = 1700;
  message.carry(pair, [&](unsigned i) {
    if (i == 4) pair.lines[1].notice(1);
    if (i == 8) pair.lines[0].bytes_per_tick = SIZE_MAX;
  });
  message.expect_arrived(pair);
  EXPECT_GT(pair.ranks[0].bundle->pairs().counters().resent_pieces, 0U);
}

TEST(Bundle, Packets_of_a_dead_primary_rail_go_out_again_in_order) {
  BundlePair pair(3);
  for (std::int32_t i = 0; i < 20; ++i) ASSERT_EQ(pair.send(0, i), Post::done);
  pair.poll(1);
  pair.lines[0].cut();
  for (std::int32_t i = 20; i < 40; ++i) ASSERT_EQ(pair.send(0, i), Post::done);
  pair.lines[0].notice(0);
  pair.settle();
  for (std::int32_t i = 40; i < 50; ++i) ASSERT_EQ(pair.send(0, i), Post::done);
  pair.settle();
  EXPECT_EQ(pair.tags(1), counting(50));
  EXPECT_GT(pair.ranks[1].bundle->pairs().counters().duplicates, 0U);
  EXPECT_EQ(pair.ranks[0].lines.size(), 2U);  // one of each side
}

TEST(Bundle, Word_of_a_dead_rail_survives_the_death_of_another) {
  BundlePair pair(3);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  pair.settle();
  LongMessage message(pair, 1, 600'000);
  for (TestLine& line : pair.lines) line.bytes_per_tick = line.budget[1] = 3000;
  message.carry(pair, [&](unsigned i) {
    if (i == 3) {
      // The word of the end of rail 2 goes over rail 0, and is lost with it.
      pair.lines[0].cut();
      pair.lines[2].notice(0);
    }
    if (i == 10) pair.lines[0].notice(0);
  });
  message.expect_arrived(pair);
  EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
}

TEST(Bundle, Peer_is_lost_with_its_last_rail) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  pair.settle();
  LongMessage message(pair, 1, 100'000);
  for (TestLine& line : pair.lines) line.bytes_per_tick = line.budget[1] = 0;
  message.step(pair);
  pair.lines[0].notice(0);
  pair.poll(0);
  EXPECT_TRUE(pair.ranks[0].losses.empty());
  pair.lines[1].notice(0);
  pair.settle();
  ASSERT_EQ(pair.ranks[0].losses.size(), 1U);
  EXPECT_NE(pair.ranks[0].losses[0].find("the line is cut; no other network"), std::string::npos)
      << pair.ranks[0].losses[0];
  EXPECT_EQ(pair.ranks[0].ended.size(), message.posted);
  for (const auto& [token, how] : pair.ranks[0].ended) EXPECT_EQ(how, Sent::lost);
  EXPECT_FALSE(pair.ranks[0].bundle->alive(1));
  EXPECT_EQ(pair.send(0, 9), Post::done);
  EXPECT_EQ(pair.ranks[0].bundle->pairs().budget().used_bytes, 0U);
}

TEST(Bundle, Last_words_name_the_first_cause_and_the_last) {
  BundlePair pair(3);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  pair.settle();
  pair.lines[1].notice(0, "no answer");
  pair.settle();
  pair.lines[0].notice(0, "no carrier");
  pair.settle();
  pair.lines[2].notice(0, "closed");
  pair.poll(0);
  ASSERT_EQ(pair.ranks[0].losses.size(), 1U);
  EXPECT_EQ(pair.ranks[0].losses[0],
            "no answer; no other network leads there any more, last over tcp:2: closed");
}

TEST(Bundle, A_silent_rail_is_given_up_early_while_there_is_another) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  EXPECT_EQ(pair.ranks[0].rails[0]->patience, Network::Patience::brief);
  EXPECT_EQ(pair.ranks[0].rails[1]->patience, Network::Patience::brief);
  pair.lines[1].takes[1] = false;  // rank 1 says nothing for now
  pair.lines[0].notice(0);
  pair.settle();
  EXPECT_EQ(pair.ranks[0].rails[1]->patience, Network::Patience::rest);
  pair.lines[1].takes[1] = true;
  pair.settle();
  EXPECT_EQ(pair.ranks[0].rails[1]->patience, Network::Patience::usual);
  BundlePair alone(1);
  ASSERT_EQ(alone.send(0, 0), Post::done);
  EXPECT_EQ(alone.ranks[0].rails[0]->patience, Network::Patience::usual);
}

TEST(Bundle, Another_rail_is_tried_when_the_first_does_not_connect) {
  BundlePair pair(2);
  pair.lines[0].takes[0] = false;
  EXPECT_EQ(pair.send(0, 0), Post::again);
  for (int i = 0; i < 100; ++i) pair.poll();
  EXPECT_EQ(pair.send(0, 0), Post::again);
  for (int i = 0; i < 200; ++i) pair.poll();
  EXPECT_EQ(pair.send(0, 0), Post::done);
  EXPECT_EQ(pair.send(0, 1), Post::done);
  pair.settle();
  EXPECT_EQ(pair.tags(1), counting(2));
}

TEST(Bundle, Rail_that_never_connects_is_left_out) {
  BundlePair pair(2);
  pair.lines[1].takes[0] = false;
  ASSERT_EQ(pair.send(0, 0), Post::done);
  LongMessage message(pair, 1, 300'000);
  message.carry(pair, [&](unsigned i) {
    if (i == 2) pair.lines[1].notice(0);
  });
  message.expect_arrived(pair);
  EXPECT_EQ(pair.lines[1].carried[1], 0U);
}

TEST(Bundle, Leaving_waits_until_all_has_come) {
  BundlePair pair(2);
  for (std::int32_t i = 0; i < 30; ++i) ASSERT_EQ(pair.send(0, i), Post::done);
  pair.ranks[0].bundle->leave(Leaving::may_return);
  for (int i = 0; i < 50; ++i) pair.poll(0);
  EXPECT_FALSE(pair.ranks[0].bundle->quiesced());
  pair.settle();
  EXPECT_TRUE(pair.ranks[0].bundle->quiesced());
  EXPECT_EQ(pair.tags(1), counting(30));
  // What is sent to it waits, and words about flow are nothing to it.
  EXPECT_EQ(pair.send(1, 0), Post::again);
  const wire::Envelope word{wire::PacketKind::hold, 0, 0, 0, 0};
  EXPECT_EQ(pair.ranks[1].bundle->post(0, word, {}), Post::done);
  pair.ranks[1].bundle->leave(Leaving::may_return);
  pair.settle();
  EXPECT_TRUE(pair.ranks[1].bundle->quiesced());
}

TEST(Bundle, Who_leaves_for_good_is_gone_behind_its_last_word) {
  for (const Leaving how : {Leaving::may_return, Leaving::for_good}) {
    BundlePair pair(2);
    ASSERT_EQ(pair.send(0, 0), Post::done);
    pair.settle();
    EXPECT_FALSE(pair.ranks[1].bundle->gone(0));
    pair.ranks[0].bundle->leave(how);
    pair.settle();
    EXPECT_EQ(pair.ranks[1].bundle->gone(0), how == Leaving::for_good);
    // A question of this process waits for one that may answer it.
    const wire::Envelope question{wire::PacketKind::cancel, 0, 0, 0, 0};
    EXPECT_EQ(pair.ranks[1].bundle->post(0, question, {}),
              how == Leaving::for_good ? Post::done : Post::again);
  }
}

TEST(Bundle, Both_leave_at_once) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  ASSERT_EQ(pair.send(1, 0), Post::done);
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.ranks[1].bundle->leave(Leaving::may_return);
  pair.settle();
  EXPECT_TRUE(pair.ranks[0].bundle->quiesced() && pair.ranks[1].bundle->quiesced());
  EXPECT_EQ(pair.tags(0), counting(1));
  EXPECT_EQ(pair.tags(1), counting(1));
}

/// Rank 0 has heard the last word of rank 1, and waits for others: it is to hear that of rank 1
/// before that of the rails.
TEST(Bundle, Last_word_goes_out_ahead_of_that_of_the_rails) {
  BundlePair pair(2);
  ASSERT_EQ(pair.send(0, 0), Post::done);
  ASSERT_EQ(pair.send(1, 0), Post::done);
  pair.settle();
  pair.ranks[0].bundle->leave(Leaving::for_good);
  pair.poll(0);
  for (int i = 0; i < 5; ++i) pair.poll(1);
  pair.ranks[1].bundle->leave(Leaving::for_good);
  const auto rails_left = [&] { return pair.lines[0].leaving[1] || pair.lines[1].leaving[1]; };
  for (int i = 0; i < 10 && !rails_left(); ++i) pair.poll(1);
  ASSERT_TRUE(rails_left());
  const auto& queue = pair.lines[0].queue[0];
  ASSERT_GE(queue.size(), 2U);
  EXPECT_TRUE(queue.back().is_bye);
  const auto& last = queue[queue.size() - 2];
  const auto head = wire::decode_bundle_packet(last.bytes);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->what, static_cast<std::uint8_t>(wire::BundleWhat::bye));
  pair.settle();
  EXPECT_TRUE(pair.ranks[0].bundle->quiesced() && pair.ranks[1].bundle->quiesced());
  EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
}

TEST(Bundle, Leaving_survives_the_death_of_a_rail) {
  BundlePair pair(2);
  for (std::int32_t i = 0; i < 30; ++i) ASSERT_EQ(pair.send(0, i), Post::done);
  pair.lines[0].cut();
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.poll(0);
  pair.lines[0].notice(0);
  pair.settle();
  EXPECT_TRUE(pair.ranks[0].bundle->quiesced());
  EXPECT_EQ(pair.tags(1), counting(30));
  EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
}

/// Nonsense ends the peer, whatever it is, and nothing else.
TEST(Bundle, Nonsense_ends_the_peer) {
  using wire::BundlePacket;
  const auto what = [](wire::BundleWhat each) { return static_cast<std::uint8_t>(each); };
  const BundlePacket heads[] = {
      {0, 0, 0, 0, 1, 0, 0},                               // no kind
      {0, 0, 9, 0, 1, 0, 0},                               // no known kind
      {0, 0, what(wire::BundleWhat::piece), 0, 1, 0, 0},   // not in place
      {0, 0, what(wire::BundleWhat::packet), 2, 1, 0, 0},  // a flag of nobody
      {0, 0, what(wire::BundleWhat::packet), 0, 1, 0, 1},  // reserved
      {0, 0, what(wire::BundleWhat::packet), 0, 0, 0, 0},  // of no life
      {0, 0, what(wire::BundleWhat::packet), 0, 1, 2, 0},  // for a life that has not begun
      {5, 0, what(wire::BundleWhat::packet), 0, 1, 0, 0},  // a gap
      {0, 5, what(wire::BundleWhat::packet), 0, 1, 0, 0},  // acknowledges what was not sent
      {0, 0, what(wire::BundleWhat::down), 0, 1, 0, 0},    // too short
      {0, 0, what(wire::BundleWhat::ack), 0, 1, 0, 0},     // too short
  };
  for (const BundlePacket& head : heads) {
    BundlePair pair(2);
    const auto* const bytes = reinterpret_cast<const std::byte*>(&head);
    std::vector<std::byte> body(bytes, bytes + sizeof head);
    body.resize(body.size() + 3);
    const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, 0,
                                  static_cast<std::uint32_t>(body.size())};
    pair.lines[0].queue[1].push_back({envelope, body, 0, 0, 0});
    pair.poll(1);
    EXPECT_EQ(pair.ranks[1].losses.size(), 1U);
    EXPECT_TRUE(pair.ranks[1].packets.empty());
    EXPECT_TRUE(pair.lines[0].lost[1] && pair.lines[1].lost[1]);
  }
}

}  // namespace
}  // namespace fulmar::fabric
