// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <vector>

#include "provider/ofi_net.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"

/// Ranks that leave and come back, over networks of libfabric.
namespace fulmar::fabric {
namespace {

struct Crowd {
  OfiNet net;
  std::vector<KeepingSink> sinks;
  std::vector<bool> looks;  ///< who is in MPI

  explicit Crowd(std::uint32_t size, OfiHabits habits = {})
      : net(size, with_return(habits)), sinks(size), looks(size, true) {}
  static OfiHabits with_return(OfiHabits habits) {
    habits.come_back = true;
    return habits;
  }
  void step() {
    for (std::size_t rank = 0; rank < looks.size(); ++rank) {
      if (looks[rank]) net[rank].poll(sinks[rank]);
    }
  }
  /// False: not within the time that a slow machine may need.
  template <class Done>
  [[nodiscard]] bool until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      step();
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }
  [[nodiscard]] bool post(std::uint32_t from, std::uint32_t to, int tag) {
    return until([&] {
      return net[from].post(to, envelope(8, tag), pattern(8, static_cast<unsigned>(tag))) ==
             Post::done;
    });
  }
  [[nodiscard]] bool part(std::uint32_t rank) {
    net[rank].leave(Leaving::may_return);
    if (!until([&] { return net[rank].quiesced(); })) return false;
    looks[rank] = false;
    return true;
  }
  void come_back(std::uint32_t rank) {
    looks[rank] = true;
    EXPECT_TRUE(net[rank].resume().ok());
  }
  [[nodiscard]] std::vector<int> tags(std::uint32_t rank) const {
    std::vector<int> found;
    for (const auto& packet : sinks[rank].packets) found.push_back(packet.envelope.tag);
    return found;
  }
  [[nodiscard]] bool nobody_is_lost() const {
    for (const auto& rank : net.ranks) {
      if (!rank->losses.empty()) return false;
    }
    return true;
  }
};

TEST(OfiReturn, Who_comes_back_is_heard_and_hears) {
  for (const bool ordered : {true, false}) {
    Crowd crowd(2, {.ordered = ordered, .reluctance = 0.2});
    for (int round = 0; round < 5; ++round) {
      ASSERT_TRUE(crowd.post(0, 1, round));
      ASSERT_TRUE(crowd.post(1, 0, round));
      ASSERT_TRUE(crowd.until([&] {
        return crowd.sinks[0].packets.size() == std::size_t(round) + 1 &&
               crowd.sinks[1].packets.size() == std::size_t(round) + 1;
      }));
      ASSERT_TRUE(crowd.part(0)) << round;
      EXPECT_EQ(crowd.net.ranks[1]->left.size(), std::size_t(round) + 1);
      crowd.come_back(0);
    }
    EXPECT_EQ(crowd.net[0].known_peers(), std::vector<std::uint32_t>{1});
    EXPECT_TRUE(crowd.nobody_is_lost());
  }
}

TEST(OfiReturn, What_is_sent_to_one_that_is_away_waits_for_it) {
  for (const bool ordered : {true, false}) {
    Crowd crowd(2, {.ordered = ordered});
    ASSERT_TRUE(crowd.post(0, 1, 0));
    ASSERT_TRUE(crowd.post(1, 0, 0));
    ASSERT_TRUE(crowd.part(0));
    for (int tag = 1; tag < 5; ++tag) ASSERT_TRUE(crowd.post(1, 0, tag));
    crowd.net[1].leave(Leaving::may_return);
    for (int i = 0; i < 100; ++i) crowd.step();
    EXPECT_FALSE(crowd.net[1].quiesced());
    crowd.come_back(0);
    ASSERT_TRUE(crowd.until([&] { return crowd.net[1].quiesced(); }));
    EXPECT_EQ(crowd.tags(0), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_TRUE(crowd.nobody_is_lost());
  }
}

TEST(OfiReturn, Who_has_nothing_to_do_with_the_others_leaves_at_once) {
  Crowd crowd(2);
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.until([&] { return crowd.sinks[1].packets.size() == 1; }));
  ASSERT_TRUE(crowd.part(0));
  ASSERT_TRUE(crowd.part(1));
  const std::uint64_t before = crowd.net.wires.sends;
  crowd.come_back(0);
  crowd.step();
  ASSERT_TRUE(crowd.part(0));  // while the other one is away
  EXPECT_EQ(crowd.net.wires.sends, before);
}

/// It may do so before the other one has said its own bye.
TEST(OfiReturn, One_that_is_back_is_told_of_who_leaves) {
  for (const bool ordered : {true, false}) {
    Crowd crowd(2, {.ordered = ordered});
    ASSERT_TRUE(crowd.post(0, 1, 0));
    ASSERT_TRUE(crowd.until([&] { return crowd.sinks[1].packets.size() == 1; }));
    ASSERT_TRUE(crowd.part(0));
    crowd.net[1].leave(Leaving::may_return);
    crowd.come_back(0);
    ASSERT_TRUE(crowd.post(0, 1, 1));
    ASSERT_TRUE(crowd.until([&] { return crowd.tags(1).size() == 2 && crowd.net[1].quiesced(); }));
    EXPECT_EQ(crowd.net.ranks[0]->left, std::vector<std::uint32_t>{1});
    EXPECT_TRUE(crowd.nobody_is_lost());
  }
}

/// A word that is on its way for long is none of the time after it.
TEST(OfiReturn, Words_that_come_twice_change_nothing) {
  Crowd crowd(2, {.ordered = false});
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.until([&] { return crowd.sinks[1].packets.size() == 1; }));
  crowd.net[0].leave(Leaving::may_return);
  const auto words = crowd.net.wires.boxes[1];
  ASSERT_FALSE(words.empty());
  ASSERT_TRUE(crowd.part(0));
  crowd.come_back(0);
  ASSERT_TRUE(crowd.post(0, 1, 1));
  ASSERT_TRUE(crowd.until([&] { return crowd.sinks[1].packets.size() == 2; }));
  auto& box = crowd.net.wires.boxes[1];
  box.insert(box.end(), words.begin(), words.end());
  ASSERT_TRUE(crowd.part(1));  // would wait for a bye that has been said
  EXPECT_TRUE(crowd.nobody_is_lost());
}

TEST(OfiReturn, One_that_is_away_and_dies_is_lost_when_something_is_sent_to_it) {
  Crowd crowd(2, {.keep_alive_interval_ns = 1});
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.until([&] { return crowd.sinks[1].packets.size() == 1; }));
  ASSERT_TRUE(crowd.part(1));
  crowd.net.kill(1);
  for (int i = 0; i < 2000; ++i) crowd.step();
  EXPECT_TRUE(crowd.nobody_is_lost());
  ASSERT_TRUE(crowd.post(0, 1, 1));
  ASSERT_TRUE(crowd.until([&] { return crowd.net.losses(0).size() == 1; }));
}

TEST(OfiReturn, All_come_and_go_as_they_like) {
  constexpr std::uint32_t size = 4;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Crowd crowd(size, {.ordered = seed % 2 == 0, .reluctance = 0.3});
    std::mt19937 random(seed);
    std::vector<std::vector<int>> sent(size * size);
    for (int event = 0; event < 200; ++event) {
      const std::uint32_t from = random() % size;
      const std::uint32_t to = (from + 1 + random() % (size - 1)) % size;
      if (crowd.looks[from]) {
        if (crowd.net[from].post(to, envelope(8, event), pattern(8, unsigned(event))) ==
            Post::done) {
          sent[from * size + to].push_back(event);
        }
      }
      crowd.step();
      if (event % 10 != 9) continue;
      // Nobody leaves for somebody who is away: it might be waited for.
      for (std::uint32_t rank = 0; rank < size; ++rank) {
        if (!crowd.looks[rank]) crowd.come_back(rank);
      }
      ASSERT_TRUE(crowd.part(random() % size)) << seed;
    }
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      if (!crowd.looks[rank]) crowd.come_back(rank);
    }
    ASSERT_TRUE(crowd.until([&] {
      std::size_t missing = 0;
      for (const auto& each : sent) missing += each.size();
      for (const auto& sink : crowd.sinks) missing -= sink.packets.size();
      return missing == 0;
    })) << seed;
    EXPECT_TRUE(crowd.nobody_is_lost()) << seed;
  }
}

}  // namespace
}  // namespace fulmar::fabric
