// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "provider/tcp_messages.h"
#include "provider/verbs_net.h"

/// Ranks that leave and come back, over adapters.
namespace fulmar::fabric {
namespace {

struct Crowd {
  VerbsNet net;
  std::vector<KeepingSink> sinks;

  explicit Crowd(std::uint32_t size, VerbsHabits habits = {})
      : net(size, with_return(habits)), sinks(size) {}
  static VerbsHabits with_return(VerbsHabits habits) {
    habits.come_back = true;
    return habits;
  }
  template <class Done>
  [[nodiscard]] bool until(Done done) {
    return poll_until(net, sinks, done);
  }
  void step(unsigned count = 200) {
    for (unsigned i = 0; i < count; ++i) net.poll_all(sinks);
  }
  [[nodiscard]] bool post(std::size_t from, std::uint32_t to, int tag) {
    return send(net, sinks, from, to, 8, tag);
  }
  /// Once; it is not there.
  [[nodiscard]] Post try_to(std::size_t from, std::uint32_t to,
                            wire::PacketKind kind = wire::PacketKind::eager) {
    return net[from].post(to, envelope(8, 0, kind), pattern(8, 0));
  }
  /// For as long as that takes 300 looks.
  [[nodiscard]] bool waits(std::size_t from, std::uint32_t to) {
    for (int i = 0; i < 300; ++i) {
      if (try_to(from, to) != Post::again) return false;
      step(1);
    }
    return true;
  }
  [[nodiscard]] bool part(std::size_t rank, Leaving how = Leaving::may_return) {
    net[rank].leave(how);
    if (!until([&] { return net[rank].quiesced(); })) return false;
    net[rank].end();
    net.ranks[rank]->is_away = true;
    return true;
  }
  [[nodiscard]] bool come_back(std::size_t rank) {
    net.ranks[rank]->is_away = false;
    return net[rank].resume().ok();
  }
  [[nodiscard]] std::vector<int> tags(std::size_t rank) const {
    std::vector<int> found;
    for (const auto& packet : sinks[rank].packets) found.push_back(packet.envelope.tag);
    return found;
  }
  [[nodiscard]] bool has(std::size_t rank, std::size_t packets) {
    return until([&] { return sinks[rank].packets.size() == packets; });
  }
  [[nodiscard]] std::string losses() {
    std::string texts;
    for (const auto& rank : net.ranks) {
      for (const auto& loss : rank->losses) texts += loss.text + "\n";
    }
    return texts;
  }
};

/// As many packets as it takes until rings are lent, both ways.
TEST(VerbsReturn, Who_comes_back_is_heard_and_hears) {
  constexpr int count = 60;
  for (const double reluctance : {0.0, 0.2}) {
    Crowd crowd(2, {.reluctance = reluctance, .tears = true});
    std::vector<int> expected;
    for (int round = 0; round < 5; ++round) {
      for (int tag = 0; tag < count; ++tag) {
        ASSERT_TRUE(crowd.post(0, 1, tag));
        ASSERT_TRUE(crowd.post(1, 0, tag));
        expected.push_back(tag);
        ASSERT_TRUE(crowd.has(0, expected.size()) && crowd.has(1, expected.size()));
      }
      EXPECT_EQ(crowd.tags(0), expected);
      EXPECT_EQ(crowd.tags(1), expected);
      ASSERT_TRUE(crowd.part(0)) << round;
      ASSERT_TRUE(
          crowd.until([&] { return crowd.net.ranks[1]->left.size() == std::size_t(round) + 1; }));
      EXPECT_TRUE(crowd.net.wires.queues.empty());
      EXPECT_EQ(crowd.net[1].messages().sends().in_use(), 0U);
      ASSERT_TRUE(crowd.come_back(0));
      EXPECT_TRUE(crowd.net[0].messages().known_peers().empty());
    }
    EXPECT_GE(crowd.net[0].messages().counters().rings_lent, 5U);
    EXPECT_GE(crowd.net[1].messages().counters().rings_lent, 5U);
    EXPECT_EQ(crowd.losses(), "");
  }
}

TEST(VerbsReturn, What_is_sent_to_one_that_is_away_waits_for_it) {
  Crowd crowd(3);
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.has(1, 1));
  ASSERT_TRUE(crowd.part(0));
  for (const std::size_t from : {1U, 2U}) {  // one that knows it, and one that does not
    ASSERT_TRUE(crowd.waits(from, 0));
    EXPECT_FALSE(crowd.net[from].gone(0));
    EXPECT_TRUE(crowd.net[from].alive(0));
  }
  EXPECT_EQ(crowd.try_to(1, 0, wire::PacketKind::release), Post::done);  // who is away hears none
  ASSERT_TRUE(crowd.come_back(0));
  ASSERT_TRUE(crowd.post(1, 0, 1));
  ASSERT_TRUE(crowd.post(2, 0, 2));
  ASSERT_TRUE(crowd.has(0, 2));
  EXPECT_EQ(crowd.net[0].messages().known_peers(), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(crowd.losses(), "");
}

/// The others have not seen the end of its connections when it is back, some of them for long.
TEST(VerbsReturn, One_that_is_back_at_once_meets_those_that_compute) {
  Crowd crowd(3);
  for (const std::uint32_t to : {1U, 2U}) ASSERT_TRUE(crowd.post(0, to, 0));
  ASSERT_TRUE(crowd.has(1, 1) && crowd.has(2, 1));
  for (int round = 1; round < 4; ++round) {
    crowd.net[0].leave(Leaving::may_return);
    ASSERT_TRUE(crowd.until([&] { return crowd.net[0].quiesced(); }));
    EXPECT_TRUE(crowd.net[1].closing(0));
    crowd.net.ranks[1]->computes = true;
    crowd.net[0].end();
    ASSERT_TRUE(crowd.come_back(0));
    ASSERT_TRUE(crowd.waits(0, 1));
    ASSERT_TRUE(crowd.post(0, 2, round));
    crowd.net.ranks[1]->computes = false;
    ASSERT_TRUE(crowd.post(0, 1, round));
    EXPECT_FALSE(crowd.net[1].closing(0));
    ASSERT_TRUE(crowd.has(1, std::size_t(round) + 1) && crowd.has(2, std::size_t(round) + 1));
  }
  EXPECT_EQ(crowd.tags(1), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(crowd.losses(), "");
}

TEST(VerbsReturn, All_leave_and_come_back_in_any_order) {
  Crowd crowd(3, {.reluctance = 0.1});
  std::mt19937 random(7);
  std::array<std::size_t, 3> expected{};
  for (int round = 0; round < 30; ++round) {
    for (std::size_t from = 0; from < 3; ++from) {
      const auto to = static_cast<std::uint32_t>((from + 1 + random() % 2) % 3);
      ASSERT_TRUE(crowd.post(from, to, round));
      ++expected[to];
    }
    ASSERT_TRUE(crowd.until([&] {
      for (std::size_t rank = 0; rank < 3; ++rank) {
        if (crowd.sinks[rank].packets.size() != expected[rank]) return false;
      }
      return true;
    }));
    const std::size_t first = random() % 3;
    const std::size_t second = (first + 1 + random() % 2) % 3;
    ASSERT_TRUE(crowd.part(first));
    const bool both = round % 2 == 0;
    ASSERT_TRUE(!both || crowd.part(second));
    ASSERT_TRUE(crowd.come_back(first));
    ASSERT_TRUE(!both || crowd.come_back(second));
  }
  EXPECT_EQ(crowd.losses(), "");
}

/// The one says its last word, the other leaves before it has heard that.
TEST(VerbsReturn, Two_leave_at_the_same_time) {
  Crowd crowd(2);
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(crowd.post(0, 1, round));
    ASSERT_TRUE(crowd.has(1, std::size_t(round) + 1));
    for (const std::size_t rank : {0U, 1U}) crowd.net[rank].leave(Leaving::may_return);
    ASSERT_TRUE(crowd.until([&] { return crowd.net[0].quiesced() && crowd.net[1].quiesced(); }));
    for (const std::size_t rank : {0U, 1U}) crowd.net[rank].end();
    for (const std::size_t rank : {1U, 0U}) ASSERT_TRUE(crowd.come_back(rank));
  }
  EXPECT_EQ(crowd.losses(), "");
}

TEST(VerbsReturn, One_that_has_ended_is_lost_when_messages_were_posted_in_vain_for_a_while) {
  Crowd crowd(3, {.patience_ns = 1'000'000});
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.has(1, 1));
  ASSERT_TRUE(crowd.part(0, Leaving::for_good));
  crowd.net[0].close();
  crowd.net.ranks[0]->has_ended = true;
  ASSERT_TRUE(crowd.until([&] { return crowd.net.ranks[1]->left.size() == 1; }));
  EXPECT_TRUE(crowd.net[1].gone(0));
  EXPECT_FALSE(crowd.net[2].gone(0));
  EXPECT_EQ(crowd.try_to(1, 0, wire::PacketKind::cancel), Post::done);  // nobody will answer
  EXPECT_EQ(crowd.losses(), "");
  for (const std::size_t from : {1U, 2U}) {
    EXPECT_EQ(crowd.try_to(from, 0), Post::again);
    ASSERT_TRUE(crowd.until([&] { return crowd.try_to(from, 0) == Post::done; }));
    crowd.step(2);
    EXPECT_FALSE(crowd.net[from].alive(0));
  }
  ASSERT_EQ(crowd.net.losses(1).size(), 1U);
  EXPECT_NE(crowd.net.losses(1)[0].text.find("rank 0 has left the job"), std::string::npos);
  EXPECT_NE(crowd.net.losses(1)[0].text.find("cannot be reached"), std::string::npos);
  ASSERT_EQ(crowd.net.losses(2).size(), 1U);
  EXPECT_NE(crowd.net.losses(2)[0].text.find("it may have left MPI"), std::string::npos);
}

/// It may take the queues for connected, and has then been promised that its packets are read.
/// Over TCP: all that was said before the end of the connection would still be read there.
TEST(VerbsReturn, Who_leaves_waits_for_one_that_may_have_sent_already) {
  Crowd crowd(2, {.loopback = true});
  ASSERT_EQ(crowd.try_to(0, 1), Post::again);
  crowd.net.poll_all(crowd.sinks);  // both have said who they are
  crowd.net.ranks[0]->computes = true;
  crowd.step(300);
  crowd.net[1].leave(Leaving::may_return);
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::nanoseconds(verbs::Messages::max_leave_wait_ns * 5 / 4);
  while (std::chrono::steady_clock::now() < end) {
    crowd.step(1000);
    ASSERT_FALSE(crowd.net[1].quiesced());
  }
  crowd.net.ranks[0]->computes = false;
  const Post answer = crowd.try_to(0, 1);
  ASSERT_TRUE(crowd.part(1));
  crowd.step();
  EXPECT_EQ(crowd.sinks[1].packets.size(), answer == Post::done ? 1U : 0U);
  ASSERT_TRUE(crowd.come_back(1));
  ASSERT_TRUE(crowd.post(0, 1, 1));
  ASSERT_TRUE(crowd.until([&] { return !crowd.tags(1).empty() && crowd.tags(1).back() == 1; }));
  EXPECT_EQ(crowd.losses(), "");
}

/// As the engine waits: nothing that moves, then a sleep that has to end in time. It never sleeps
/// here, so it lies down at every moment, also in the last one.
TEST(VerbsReturn, Who_leaves_is_woken_when_one_that_says_nothing_has_had_its_time) {
  Crowd crowd(2);
  crowd.net.ranks[0]->computes = true;
  ASSERT_EQ(crowd.try_to(1, 0), Post::again);
  crowd.step();
  crowd.net[1].leave(Leaving::may_return);
  const auto latest = base::now_ns() + std::uint64_t(verbs::Messages::max_leave_wait_ns);
  while (!crowd.net[1].quiesced()) {
    if (crowd.net[1].poll(crowd.sinks[1]) != 0) continue;
    ASSERT_FALSE(crowd.net[1].quiesced());  // or it would sleep now
    if (!crowd.net[1].arm()) continue;
    ASSERT_GE(crowd.net[1].next_deadline_ns(), 0);
    ASSERT_LE(std::uint64_t(crowd.net[1].next_deadline_ns()), latest);
  }
  EXPECT_GE(base::now_ns(), latest - 1'000'000);
}

TEST(VerbsReturn, Orders_for_one_that_is_away_wait) {
  Crowd crowd(2);
  ASSERT_TRUE(crowd.post(0, 1, 0));
  ASSERT_TRUE(crowd.has(1, 1));
  ASSERT_TRUE(crowd.part(0));
  std::vector<std::byte> memory(64);
  auto opened = crowd.net[1].open_memory(memory, Access::peers_change);
  ASSERT_TRUE(opened.ok());
  const auto fetch = [&] { return crowd.net[1].rdma_read(0, memory, opened->lkey, {1, 2}, 7); };
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(fetch(), Post::again);
    crowd.step(1);
  }
  crowd.net[1].leave(Leaving::may_return);
  EXPECT_EQ(fetch(), Post::done);  // never
  PlacingSink sink;
  crowd.net[1].poll(sink);
  EXPECT_EQ(sink.ended.at(7), Sent::lost);
  crowd.net[1].close_memory(*opened);
}

/// It has left in that moment, or is of a version that gives up at once.
TEST(VerbsReturn, A_connection_that_ends_before_the_queues_are_connected_is_asked_for_again) {
  Crowd crowd(2);
  const auto break_off = [&] {
    const auto [mine, theirs] = local_sockets();
    crowd.net.introduced.insert({0, 1});
    crowd.net.ranks[0]->introductions.push_back({1, theirs, {}});
    ::close(mine);
    ASSERT_EQ(crowd.try_to(0, 1), Post::again);
    crowd.net.ranks[1]->is_away = true;
    crowd.step(300);
  };
  for (int i = 0; i < 8; ++i) {
    break_off();
    ASSERT_EQ(crowd.losses(), "") << i;
  }
  crowd.net.ranks[1]->is_away = false;
  ASSERT_TRUE(crowd.post(0, 1, 3));
  ASSERT_TRUE(crowd.has(1, 1));  // and nothing is held against it any more
  ASSERT_TRUE(crowd.part(1));
  ASSERT_TRUE(crowd.until([&] { return crowd.net.ranks[0]->left.size() == 1; }));
  for (int i = 0; i < 9; ++i) break_off();
  EXPECT_NE(crowd.losses().find("before the queues were connected"), std::string::npos);
}

TEST(VerbsReturn, Without_that_who_leaves_never_comes_back) {
  VerbsNet net(2);
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(send(net, sinks, 0, 1, 8));
  ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
  net[0].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(net, sinks, [&] { return net[0].quiesced(); }));
  EXPECT_TRUE(net[1].gone(0));
  EXPECT_EQ(post(net[1], 0, 8), Post::done);
  for (int i = 0; i < 3; ++i) net[1].poll(sinks[1]);
  ASSERT_EQ(net.losses(1).size(), 1U);
  EXPECT_NE(net.losses(1)[0].text.find("it does not come back"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric
