// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <random>

#include "unit/fabric/bundle_net.h"

/// Processes that leave MPI over a bundle and enter it again.
namespace fulmar::fabric {
namespace {

void depart(BundlePair& pair, std::uint32_t rank) {
  Bundle& bundle = *pair.ranks[rank].bundle;
  ASSERT_TRUE(bundle.quiesced());
  bundle.end();
}

void come_back(BundlePair& pair, std::uint32_t rank) {
  ASSERT_TRUE(pair.ranks[rank].bundle->resume().ok());
}

/// Until it is taken.
void send_at_last(BundlePair& pair, std::uint32_t from, std::int32_t tag) {
  for (int i = 0; i < 1000; ++i) {
    if (pair.send(from, tag) == Post::done) return;
    pair.poll();
  }
  FAIL() << "message " << tag << " of rank " << from << " is not taken";
}

void expect_no_loss(const BundlePair& pair) {
  for (const BundleRank& rank : pair.ranks) {
    EXPECT_TRUE(rank.losses.empty()) << rank.losses.front();
    EXPECT_TRUE(rank.lines.empty()) << rank.lines.front();
  }
}

TEST(BundleReturn, Who_comes_back_is_talked_to_again) {
  BundlePair pair(2);
  for (std::int32_t life = 0; life < 4; ++life) {
    for (std::int32_t i = 0; i < 3; ++i) {
      send_at_last(pair, 0, 10 * life + i);
      send_at_last(pair, 1, 10 * life + i);
    }
    pair.settle();
    pair.ranks[0].bundle->leave(Leaving::may_return);
    pair.settle();
    depart(pair, 0);
    pair.settle();
    come_back(pair, 0);
  }
  const std::vector<std::int32_t> all{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32};
  EXPECT_EQ(pair.tags(0), all);
  EXPECT_EQ(pair.tags(1), all);
  expect_no_loss(pair);
}

TEST(BundleReturn, What_is_sent_to_one_that_is_away_waits_and_words_about_flow_do_not) {
  BundlePair pair(2);
  send_at_last(pair, 1, 1);
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(pair.send(1, 2), Post::again);
    pair.poll();
  }
  const wire::Envelope word{wire::PacketKind::release, 0, 0, 77, 0};
  EXPECT_EQ(pair.ranks[1].bundle->post(0, word, {}), Post::done);
  come_back(pair, 0);
  send_at_last(pair, 1, 2);
  pair.settle();
  EXPECT_EQ(pair.tags(0), (std::vector<std::int32_t>{1, 2}));
  expect_no_loss(pair);
}

/// The first word after a return may be one that rails drop on their way to who was away.
TEST(BundleReturn, First_word_to_one_that_is_back_arrives_whatever_it_is) {
  BundlePair pair(2);
  send_at_last(pair, 1, 1);
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  pair.settle();
  come_back(pair, 0);
  pair.lines[0].takes[0] = false;  // it comes back over the other rail
  send_at_last(pair, 0, 5);
  pair.settle();
  const wire::Envelope word{wire::PacketKind::hold, 0, 0, 77, 0};
  ASSERT_EQ(pair.ranks[1].bundle->post(0, word, {}), Post::done);
  send_at_last(pair, 1, 2);
  pair.settle();
  EXPECT_EQ(pair.tags(0), (std::vector<std::int32_t>{1, 77, 2}));
  expect_no_loss(pair);
}

/// Rank 0 is back, and sends, while rank 1 has not ended its first life, at each stage of that.
TEST(BundleReturn, Back_while_the_peer_leaves) {
  for (int stage = 0; stage < 12; ++stage) {
    BundlePair pair(2);
    send_at_last(pair, 0, 1);
    send_at_last(pair, 1, 1);
    pair.settle();
    pair.ranks[1].bundle->leave(Leaving::may_return);
    pair.ranks[0].bundle->leave(Leaving::may_return);
    for (int i = 0; i < 100 && !pair.ranks[0].bundle->quiesced(); ++i) {
      pair.poll(0);
      pair.poll(1);
    }
    depart(pair, 0);
    for (int i = 0; i < stage / 3; ++i) pair.poll(1);
    come_back(pair, 0);
    for (int i = 0; i < stage % 3; ++i) pair.poll(1);
    std::int32_t tag = 2;
    for (int i = 0; i < 1000 && pair.tags(1).size() < 4; ++i) {
      if (tag < 5 && pair.send(0, tag) == Post::done) ++tag;
      pair.poll();
      if (!pair.ranks[1].bundle->quiesced()) continue;
      depart(pair, 1);
      come_back(pair, 1);
    }
    EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{1, 2, 3, 4})) << stage;
    expect_no_loss(pair);
  }
}

TEST(BundleReturn, Rail_that_was_given_up_is_used_again_in_the_next_session) {
  BundlePair pair(2);
  send_at_last(pair, 0, 1);
  pair.settle();
  pair.lines[0].cut();
  pair.lines[0].notice(0);
  pair.settle();
  EXPECT_FALSE(pair.ranks[1].bundle->pairs().stats_of(0)[0].is_up);
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  pair.settle();
  come_back(pair, 0);
  LongMessage message(pair, 3, 500'000);
  message.carry(pair, [](unsigned) {});
  message.expect_arrived(pair);
  EXPECT_TRUE(pair.ranks[1].bundle->pairs().stats_of(0)[0].is_up);
  EXPECT_GT(pair.lines[0].carried[1], 0U);
  EXPECT_GT(pair.lines[1].carried[1], 0U);
  EXPECT_TRUE(pair.ranks[0].losses.empty() && pair.ranks[1].losses.empty());
}

TEST(BundleReturn, Pieces_of_the_life_before_are_not_taken_for_those_of_now) {
  BundlePair pair(2);
  LongMessage first(pair, 1, 300'000);
  first.carry(pair, [](unsigned) {});
  first.expect_arrived(pair);
  pair.ranks[0].ended.clear();
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  pair.settle();
  come_back(pair, 0);
  LongMessage second(pair, 2, 300'000);
  second.carry(pair, [](unsigned) {});
  second.expect_arrived(pair);
  expect_no_loss(pair);
}

/// A process that leaves has sent to one that is gone for good, and took nothing of it.
TEST(BundleReturn, Leaving_does_not_wait_for_who_never_comes_back) {
  BundlePair pair(2);
  send_at_last(pair, 0, 1);
  pair.settle();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    pair.ranks[rank].bundle->leave(rank == 0 ? Leaving::may_return : Leaving::for_good);
  }
  for (int i = 0; i < 100 && !pair.ranks[0].bundle->quiesced(); ++i) pair.poll();
  depart(pair, 0);
  come_back(pair, 0);
  // Its rails are closing: what comes now is taken by nobody.
  static_cast<void>(pair.send(0, 2));
  for (int i = 0; i < 100 && !pair.ranks[1].bundle->quiesced(); ++i) pair.poll();
  depart(pair, 1);
  pair.settle();
  pair.ranks[0].bundle->leave(Leaving::for_good);
  pair.settle();
  EXPECT_TRUE(pair.ranks[0].bundle->quiesced());
  EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{1}));
  expect_no_loss(pair);
}

/// A packet as if it came from rank 0.
void inject(BundlePair& pair, const wire::BundlePacket& head, std::int32_t tag) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&head);
  const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, tag, sizeof head};
  pair.lines[1].queue[1].push_back({envelope, {bytes, bytes + sizeof head}, 0, 0, 0, false});
}

wire::BundlePacket packet_of(std::uint16_t life, std::uint16_t to_life, std::uint32_t number) {
  wire::BundlePacket head;
  head.number = number;
  head.what = static_cast<std::uint8_t>(wire::BundleWhat::packet);
  head.life = life;
  head.to_life = to_life;
  return head;
}

TEST(BundleReturn, Late_packets_are_dropped) {
  BundlePair pair(2);
  for (int life = 1; life < 3; ++life) {
    send_at_last(pair, 0, life);
    pair.settle();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      pair.ranks[rank].bundle->leave(Leaving::may_return);
    }
    pair.settle();
    for (std::uint32_t rank = 0; rank < 2; ++rank) depart(pair, rank);
    for (std::uint32_t rank = 0; rank < 2; ++rank) come_back(pair, rank);
  }
  send_at_last(pair, 0, 3);
  pair.settle();
  const auto before = pair.ranks[1].bundle->pairs().counters().outdated;
  inject(pair, packet_of(2, 0, 1), 100);       // of an older life
  inject(pair, packet_of(3, 2, 1), 101);       // for an older life
  inject(pair, packet_of(60'000, 0, 1), 102);  // so far away that it is older
  pair.settle();
  EXPECT_EQ(pair.ranks[1].bundle->pairs().counters().outdated, before + 3);
  send_at_last(pair, 0, 4);
  pair.settle();
  EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{1, 2, 3, 4}));
  expect_no_loss(pair);
}

TEST(BundleReturn, Nothing_more_comes_of_a_life_that_has_ended) {
  BundlePair pair(2);
  send_at_last(pair, 0, 1);
  pair.settle();
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  pair.settle();
  inject(pair, packet_of(1, 0, 0), 100);
  pair.settle();
  EXPECT_EQ(pair.ranks[1].bundle->pairs().counters().outdated, 1U);
  EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{1}));
  expect_no_loss(pair);
}

/// A rail may tell late that its connection of the session before has ended.
TEST(BundleReturn, End_of_an_old_connection_is_no_end_of_the_session) {
  BundlePair pair(2);
  LongMessage message(pair, 1, 200'000);  // over both rails
  message.carry(pair, [](unsigned) {});
  pair.ranks[0].bundle->leave(Leaving::may_return);
  pair.settle();
  depart(pair, 0);
  pair.lines[1].bytes_per_tick = 0;
  pair.lines[1].budget[1] = 0;
  for (int i = 0; i < 5; ++i) pair.poll();
  come_back(pair, 0);
  send_at_last(pair, 0, 2);
  for (int i = 0; i < 50; ++i) pair.poll();
  EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{2}));
  pair.lines[1].bytes_per_tick = SIZE_MAX;
  pair.settle();
  send_at_last(pair, 1, 3);
  pair.settle();
  EXPECT_EQ(pair.tags(0), (std::vector<std::int32_t>{3}));
  EXPECT_TRUE(pair.ranks[1].bundle->pairs().stats_of(0)[1].is_up);
  expect_no_loss(pair);
}

TEST(BundleReturn, Nobody_comes_back_who_has_not_left) {
  BundlePair pair(2);
  send_at_last(pair, 0, 1);
  pair.settle();
  inject(pair, packet_of(2, 0, 0), 2);
  pair.settle();
  ASSERT_EQ(pair.ranks[1].losses.size(), 1U);
  EXPECT_NE(pair.ranks[1].losses[0].find("without the end"), std::string::npos);
  EXPECT_EQ(pair.tags(1), (std::vector<std::int32_t>{1}));
}

/// Two that come and go as they please, over rails of which each is looked at now and then.
struct Wanderers {
  static constexpr std::int32_t most_messages = 40;
  static constexpr unsigned most_lives = 6;
  BundlePair pair{3};
  std::mt19937 random;
  struct State {
    std::int32_t sent = 0;
    unsigned lives = 1;
    bool leaving = false;
    bool away = false;
  };
  State states[2];

  explicit Wanderers(unsigned seed) : random(seed) {}
  [[nodiscard]] bool chance(unsigned of) { return random() % of == 0; }
  void act(std::uint32_t rank) {
    State& state = states[rank];
    Bundle& bundle = *pair.ranks[rank].bundle;
    if (state.away) {
      if (!chance(4)) return;
      come_back(pair, rank);
      state.away = false;
    }
    if (state.leaving) {
      if (bundle.quiesced()) {
        bundle.end();
        state.leaving = false;
        state.away = true;
        ++state.lives;
        return;
      }
    } else if (state.lives < most_lives && chance(25)) {
      bundle.leave(Leaving::may_return);
      state.leaving = true;
    } else if (state.sent < most_messages && chance(3)) {
      if (pair.send(rank, state.sent) == Post::done) ++state.sent;
    } else if (chance(6)) {
      const wire::Envelope word{wire::PacketKind::release, 0, 0, -1, 0};
      static_cast<void>(bundle.post(1 - rank, word, {}));
    }
    for (TestLine& line : pair.lines) line.budget[rank] = chance(2) ? SIZE_MAX : 0;
    pair.poll(rank);
  }
  [[nodiscard]] std::vector<std::int32_t> messages_at(std::uint32_t rank) const {
    std::vector<std::int32_t> found = pair.tags(rank);
    std::erase(found, -1);
    return found;
  }
  [[nodiscard]] bool done() const {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const State& state = states[rank];
      if (state.lives < most_lives || state.away || state.leaving) return false;
      if (messages_at(rank).size() != static_cast<std::size_t>(most_messages)) return false;
    }
    return true;
  }
};

TEST(BundleReturn, Two_that_come_and_go_lose_nothing) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Wanderers two(seed);
    for (int i = 0; i < 200'000 && !two.done(); ++i) {
      BundlePair::time_ns += 1'000'000;
      two.act(two.random() % 2);
    }
    ASSERT_TRUE(two.done()) << seed;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const auto found = two.messages_at(rank);
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i], static_cast<std::int32_t>(i)) << seed;
      }
    }
    expect_no_loss(two.pair);
  }
}

}  // namespace
}  // namespace fulmar::fabric
