// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "unit/fabric/bundle_net.h"

/// Rails that were given up and carry packets again within a session (fabric/bundle/pairs_returns.cc).
namespace fulmar::fabric {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

/// Two processes that have lost one of two rails, both of which know it.
struct OneRailLost {
  explicit OneRailLost(std::size_t rail = 1) : pair(2), lost(rail), line(pair.lines[rail]) {
    EXPECT_EQ(pair.send(0, 0), Post::done);
    pair.settle();
    carry(1);
    line.cut();
    line.notice(0);
    pair.settle();
    EXPECT_FALSE(is_up(0) || is_up(1));
    line.unplugged = true;
  }
  [[nodiscard]] bool is_up(std::uint32_t rank) {
    return pair.ranks[rank].bundle->pairs().stats_of(1 - rank)[lost].is_up;
  }
  [[nodiscard]] std::uint64_t returned(std::uint32_t rank) {
    return pair.ranks[rank].bundle->pairs().counters().returned_rails;
  }
  void carry(std::uint64_t number) {
    pair.ranks[0].ended.clear();
    LongMessage message(pair, number, 300'000);
    message.carry(pair, [](unsigned) {});
    message.expect_arrived(pair);
  }
  void wait(std::uint64_t seconds) {
    BundlePair::time_ns += seconds * second_ns;
    for (int i = 0; i < 600; ++i) pair.poll();
  }
  void expect_no_loss() const {
    EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
  }

  BundlePair pair;
  std::size_t lost;
  TestLine& line;
};

TEST(BundleRailReturn, Rail_that_is_back_carries_pieces_again) {
  for (const std::size_t rail : {0U, 1U}) {
    OneRailLost two(rail);
    two.line.unplugged = false;
    two.wait(4);
    EXPECT_EQ(two.line.connections, 0U) << "too early";
    two.wait(2);
    EXPECT_TRUE(two.is_up(0) && two.is_up(1));
    EXPECT_EQ(two.returned(0), 1U);
    EXPECT_EQ(two.returned(1), 1U);
    EXPECT_EQ(two.line.connections, 1U);
    const std::uint64_t before = two.line.carried[1];
    two.carry(2);
    EXPECT_GT(two.line.carried[1], before);
    EXPECT_NE(two.pair.ranks[0].lines.back().find("carries messages again"), std::string::npos);
    two.expect_no_loss();
  }
}

/// As if it had never failed: the other one may fail next.
TEST(BundleRailReturn, Packets_go_over_the_rail_that_is_back_when_the_other_one_fails) {
  OneRailLost two(0);
  two.line.unplugged = false;
  two.wait(6);
  TestLine& other = two.pair.lines[1];
  for (std::int32_t i = 1; i < 10; ++i) ASSERT_EQ(two.pair.send(0, i), Post::done);
  two.pair.poll(1);
  other.cut();
  for (std::int32_t i = 10; i < 20; ++i) ASSERT_EQ(two.pair.send(0, i), Post::done);
  other.notice(1);
  two.pair.settle();
  ASSERT_EQ(two.pair.send(0, 20), Post::done);
  ASSERT_EQ(two.pair.send(1, 21), Post::done);
  two.pair.settle();
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; i <= 20; ++i) expected.push_back(i);
  EXPECT_EQ(two.pair.tags(1), expected);
  EXPECT_EQ(two.pair.tags(0), (std::vector<std::int32_t>{21}));
  two.expect_no_loss();
}

/// A connection is made, but nothing comes through: no packet waits for it, and the next try comes
/// later than this one.
TEST(BundleRailReturn, Rail_that_carries_nothing_is_not_used_and_tried_ever_more_rarely) {
  OneRailLost two;
  std::uint64_t wait = 5;
  for (unsigned tries = 1; tries <= 4; ++tries) {
    two.wait(wait - 1);
    EXPECT_EQ(two.line.connections, tries - 1);
    two.wait(2);
    ASSERT_EQ(two.line.connections, tries);
    const std::uint64_t before = two.line.carried[1];
    two.carry(10 + tries);
    EXPECT_EQ(two.line.carried[1], before);
    two.line.notice(tries % 2);
    two.pair.settle();
    EXPECT_FALSE(two.is_up(0) || two.is_up(1));
    wait *= 2;
  }
  EXPECT_EQ(two.returned(0) + two.returned(1), 0U);
  two.line.unplugged = false;
  two.wait(wait + 1);
  EXPECT_EQ(two.returned(0) + two.returned(1), 2U);
  two.carry(20);
  two.expect_no_loss();
}

TEST(BundleRailReturn, Sleeping_process_that_offers_wakes_for_it) {
  OneRailLost two;
  two.line.unplugged = false;
  Bundle& offers = *two.pair.ranks[0].bundle;
  ASSERT_TRUE(offers.arm());
  const std::int64_t due = offers.next_deadline_ns();
  ASSERT_GT(due, 0);
  EXPECT_LE(std::uint64_t(due), BundlePair::time_ns + 5 * second_ns);
  BundlePair::time_ns = std::uint64_t(due);
  two.pair.poll(0);
  for (int i = 0; i < 20; ++i) two.pair.poll();
  EXPECT_TRUE(two.is_up(0) && two.is_up(1));
}

TEST(BundleRailReturn, Rail_that_one_side_cannot_take_back_stays_given_up) {
  for (const std::uint32_t who : {0U, 1U}) {
    OneRailLost two;
    two.line.unplugged = false;
    two.pair.ranks[who].rails[1]->can_readmit = false;
    two.wait(6);
    EXPECT_FALSE(two.is_up(who)) << who;
    two.carry(2);
    two.wait(12);
    two.carry(3);
    EXPECT_EQ(two.returned(0) + two.returned(1), 0U);
    two.expect_no_loss();
    two.pair.ranks[0].bundle->leave(Leaving::may_return);
    two.pair.ranks[1].bundle->leave(Leaving::may_return);
    two.pair.settle();
    EXPECT_TRUE(two.pair.ranks[0].bundle->quiesced() && two.pair.ranks[1].bundle->quiesced());
  }
}

TEST(BundleRailReturn, Process_that_leaves_offers_nothing) {
  OneRailLost two;
  two.line.unplugged = false;
  two.pair.lines[0].takes[1] = false;  // the other one does not answer
  two.pair.ranks[0].bundle->leave(Leaving::may_return);
  two.wait(6);
  EXPECT_EQ(two.line.connections, 0U);
}

TEST(BundleRailReturn, Offer_of_a_rail_that_works_ends_the_peer) {
  for (const std::uint32_t from : {0U, 1U}) {
    BundlePair pair(2);
    ASSERT_EQ(pair.send(from, 0), Post::done);
    pair.settle();
    wire::BundlePacket head;
    head.number = 1;
    head.what = static_cast<std::uint8_t>(wire::BundleWhat::up);
    head.life = head.to_life = 1;
    const wire::BundleAck ack{.base = 0, .rail = 1, .map = 0};
    std::vector<std::byte> bytes(sizeof head + sizeof ack);
    std::memcpy(bytes.data(), &head, sizeof head);
    std::memcpy(bytes.data() + sizeof head, &ack, sizeof ack);
    const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0,
                                  static_cast<std::uint32_t>(bytes.size())};
    pair.lines[0].queue[1 - from].push_back({envelope, bytes, 0, 0, 0, false});
    pair.settle();
    ASSERT_EQ(pair.ranks[1 - from].losses.size(), 1U);
    EXPECT_NE(pair.ranks[1 - from].losses[0].find("it offers a network that has not ended"),
              std::string::npos)
        << pair.ranks[1 - from].losses[0];
  }
}

/// Rails fail and come back at any time, each side notices when it does: everything arrives, once and
/// in order, as long as one rail is left.
TEST(BundleRailReturn, Rails_that_come_and_go_lose_nothing) {
  constexpr std::uint32_t seeds = 60;
  std::uint64_t returned = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    BundlePair pair(3);
    std::int32_t next[2] = {0, 0};
    for (unsigned step = 0; step < 4000; ++step) {
      const auto from = static_cast<std::uint32_t>(random() % 2);
      if (pair.send(from, next[from]) == Post::done) ++next[from];
      // Line 0 never fails.
      TestLine& line = pair.lines[1 + random() % 2];
      if (random() % 200 == 0) {
        line.unplugged = random() % 2 == 0;
        line.cut();
      }
      if (line.broken[0] && random() % 20 == 0) line.notice(random() % 2);
      if (random() % 100 == 0) BundlePair::time_ns += 6 * second_ns;
      pair.poll();
    }
    for (TestLine& line : pair.lines) {
      if (line.broken[0]) line.notice(0);
    }
    pair.settle();
    for (std::uint32_t to = 0; to < 2; ++to) {
      const auto tags = pair.tags(to);
      ASSERT_EQ(static_cast<std::int32_t>(tags.size()), next[1 - to]) << "seed " << seed;
      for (std::size_t i = 0; i < tags.size(); ++i) {
        ASSERT_EQ(tags[i], static_cast<std::int32_t>(i)) << "seed " << seed;
      }
      EXPECT_TRUE(pair.ranks[to].losses.empty()) << "seed " << seed << pair.ranks[to].losses[0];
    }
    returned += pair.ranks[0].bundle->pairs().counters().returned_rails;
  }
  EXPECT_GT(returned, 2 * seeds);
}

}  // namespace
}  // namespace fulmar::fabric
