// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/tcp_net.h"

/// The whole provider: connections made when they are needed, over the loopback interface.
namespace fulmar::fabric {
namespace {

constexpr unsigned patience = 20'000'000;
/// Of providers, with messages for those who have left and ended.
constexpr std::uint64_t patience_ns = 50'000'000;

struct World {
  struct Rank {
    World* world = nullptr;
    std::unique_ptr<Tcp> tcp;
    std::vector<std::byte> address;
    KeepingSink sink;
    std::vector<TcpNet::Loss> losses;
    unsigned finds = 0;
    bool is_known = true;  ///< its address
  };
  std::vector<std::unique_ptr<Rank>> ranks;

  /// Rank `stranger` has another key.
  explicit World(std::uint32_t size, std::size_t lanes = 1, std::uint32_t stranger = ~0U) {
    for (std::uint32_t self = 0; self < size; ++self) {
      ranks.push_back(std::make_unique<Rank>());
      Rank& rank = *ranks.back();
      rank.world = this;
      Tcp::Config config;
      const auto key = static_cast<std::uint8_t>(self == stranger ? 2 : 1);
      config.connect.processes = one_job({42, self}, size, {key});
      config.connect.deadline_ns = 3'000'000'000;
      config.patience_ns = patience_ns;
      config.lanes = lanes;
      config.owner = &rank;
      config.find = [](void* owner, std::uint32_t peer) -> base::Result<std::vector<std::byte>> {
        auto& asker = *static_cast<Rank*>(owner);
        ++asker.finds;
        if (asker.world->ranks[peer]->tcp == nullptr) {
          return base::failure(base::ErrorClass::other, "rank %u has no address", peer);
        }
        if (!asker.world->ranks[peer]->is_known) return std::vector<std::byte>();
        return asker.world->ranks[peer]->address;
      };
      config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
        static_cast<Rank*>(owner)->losses.push_back({peer, why.text()});
      };
      auto opened = Tcp::open(config);
      if (opened.failed()) {
        ADD_FAILURE() << opened.error().text();
        std::abort();
      }
      rank.tcp = std::move(opened.value());
      rank.address = *rank.tcp->address();
    }
  }
  Tcp& operator[](std::size_t rank) { return *ranks[rank]->tcp; }
  void poll() {
    for (auto& rank : ranks) {
      if (rank->tcp != nullptr) rank->tcp->poll(rank->sink);
    }
  }
  template <class Done>
  bool poll_until(Done done) {
    for (unsigned i = 0; i < patience; ++i) {
      if (done()) return true;
      poll();
    }
    return false;
  }
  void send(std::uint32_t from, std::uint32_t to, int tag) {
    while ((*this)[from].post(to, envelope(100, tag), pattern(100, unsigned(tag))) == Post::again) {
      poll();
    }
  }
};

TEST(TcpConnect, Everybody_talks_to_everybody_and_leaves) {
  constexpr std::uint32_t size = 4;
  World world(size);
  for (std::uint32_t a = 0; a < size; ++a) {
    for (std::uint32_t b = 0; b < size; ++b) {
      for (int tag = 0; a != b && tag < 5; ++tag) world.send(a, b, tag);
    }
  }
  for (std::uint32_t a = 0; a < size; ++a) world[a].leave(Leaving::may_return);
  ASSERT_TRUE(world.poll_until([&] {
    bool all = true;
    for (std::uint32_t a = 0; a < size; ++a) all = all && world[a].quiesced();
    return all;
  }));
  for (std::uint32_t a = 0; a < size; ++a) {
    EXPECT_EQ(world.ranks[a]->sink.packets.size(), 15U);
    EXPECT_TRUE(world.ranks[a]->losses.empty());
    EXPECT_LE(world.ranks[a]->finds, 3U);
  }
}

TEST(TcpConnect, Both_begin_at_once_and_have_one_connection) {
  World world(2);
  bool sent[2] = {};
  ASSERT_TRUE(world.poll_until([&] {
    for (std::uint32_t self = 0; self < 2; ++self) {
      if (!sent[self]) {
        sent[self] = world[self].post(1 - self, envelope(0), {}) == Post::done;
      }
    }
    return world.ranks[0]->sink.packets.size() + world.ranks[1]->sink.packets.size() == 2;
  }));
  EXPECT_EQ(world[0].streams().connections(), 1U);
  EXPECT_EQ(world[1].streams().connections(), 1U);
}

TEST(TcpConnect, All_lanes_come_up) {
  World world(2, 3);
  world.send(0, 1, 7);
  ASSERT_TRUE(world.poll_until([&] {
    return world[0].streams().connections() == 3 && world[1].streams().connections() == 3;
  }));
}

TEST(TcpConnect, Stranger_is_not_reached_and_the_error_says_so) {
  World world(2, 1, 1);
  ASSERT_TRUE(world.poll_until([&] {
    return world[0].post(1, envelope(0), {}) == Post::done && !world.ranks[0]->losses.empty();
  }));
  EXPECT_EQ(world.ranks[0]->losses.size(), 1U);
  EXPECT_FALSE(world[0].alive(1));
  EXPECT_EQ(world.ranks[1]->sink.packets.size(), 0U);
}

TEST(TcpConnect, Peer_without_an_address_is_lost) {
  World world(2);
  world.ranks[1]->tcp.reset();
  ASSERT_TRUE(world.poll_until([&] {
    return world[0].post(1, envelope(0), {}) == Post::done && !world.ranks[0]->losses.empty();
  }));
  EXPECT_EQ(world.ranks[0]->losses[0].text, "rank 1 has no address");
}

/// A process that has not told its address so far: nobody waits for it, but for what is sent to it.
TEST(TcpConnect, Rank_that_comes_late_is_asked_for_again) {
  World world(3);
  world.ranks[1]->is_known = false;
  ASSERT_EQ(world[0].post(1, envelope(0), {}), Post::again);
  world.send(2, 0, 7);
  ASSERT_TRUE(world.poll_until([&] { return world.ranks[0]->sink.packets.size() == 1; }));
  const unsigned asked = world.ranks[0]->finds;
  ASSERT_TRUE(world[0].arm());
  const std::int64_t due = world[0].next_deadline_ns();
  EXPECT_GT(due, 0) << "nothing else ends the sleep";
  EXPECT_LT(due, static_cast<std::int64_t>(base::now_ns() + 1'000'000'000));
  world.poll();
  EXPECT_GT(world.ranks[0]->finds, asked);
  world.ranks[1]->is_known = true;
  world.send(0, 1, 8);
  ASSERT_TRUE(world.poll_until([&] { return world.ranks[1]->sink.packets.size() == 1; }));
  EXPECT_TRUE(world.ranks[0]->losses.empty());
}

/// Lets a rank leave in good order while the others look on.
void leave(World& world, std::size_t rank, Leaving how = Leaving::may_return) {
  world[rank].leave(how);
  ASSERT_TRUE(world.poll_until([&] { return world[rank].quiesced(); }));
  world[rank].end();
}

bool took(World& world, std::size_t rank, std::size_t packets) {
  return world.poll_until([&] { return world.ranks[rank]->sink.packets.size() >= packets; });
}

void expect_no_loss(const World& world) {
  for (const auto& rank : world.ranks) EXPECT_TRUE(rank->losses.empty());
}

TEST(TcpReturn, Who_has_left_comes_back_and_speaks_first) {
  for (const std::size_t lanes : {1U, 2U}) {
    World world(3, lanes);
    for (int turn = 0; turn < 3; ++turn) {
      world.send(1, 0, 10 + turn);
      world.send(2, 1, 20 + turn);
      ASSERT_TRUE(took(world, 0, std::size_t(turn) + 1) && took(world, 1, std::size_t(turn) + 1));
      leave(world, 1);
      ASSERT_TRUE(world[1].resume().ok());
    }
    expect_no_loss(world);
    EXPECT_TRUE(world[0].alive(1));
  }
}

/// What is sent to a rank that has left waits until it is back, as for one that computes, and comes
/// in order.
TEST(TcpReturn, Who_has_left_is_waited_for) {
  World world(2);
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  leave(world, 1);
  for (unsigned i = 0; i < 100; ++i) {
    ASSERT_EQ(world[0].post(1, envelope(100, 2), pattern(100, 2U)), Post::again);
    world.poll();
  }
  ASSERT_TRUE(world[1].resume().ok());
  for (const int tag : {2, 3, 4}) world.send(0, 1, tag);
  ASSERT_TRUE(took(world, 1, 3));
  expect_no_loss(world);
}

TEST(TcpReturn, All_leave_and_come_back_at_different_times) {
  constexpr std::uint32_t size = 3;
  World world(size);
  for (int turn = 0; turn < 4; ++turn) {
    for (std::uint32_t a = 0; a < size; ++a) {
      for (std::uint32_t b = 0; b < size; ++b) {
        if (a != b) world.send(a, b, turn);
      }
    }
    for (std::uint32_t a = 0; a < size; ++a) {
      ASSERT_TRUE(took(world, a, std::size_t(turn + 1) * (size - 1)));
    }
    for (std::uint32_t i = 0; i < size; ++i) leave(world, (i + std::uint32_t(turn)) % size);
    for (std::uint32_t a = 0; a < size; ++a) ASSERT_TRUE(world[a].resume().ok());
  }
  expect_no_loss(world);
}

std::size_t connections(const World& world, std::size_t rank) {
  return world.ranks[rank]->tcp->streams().connections();
}
bool parted(World& world) {
  return world.poll_until([&] { return connections(world, 0) + connections(world, 1) == 0; });
}

/// Both at once, and one after the other, each many times.
TEST(TcpParting, Both_stay_and_nothing_of_the_other_is_kept) {
  for (const std::size_t lanes : {1U, 2U}) {
    World world(2, lanes);
    for (std::uint32_t turn = 0; turn < 30; ++turn) {
      const std::uint32_t from = turn % 2;
      for (int i = 0; i < 10; ++i) world.send(from, 1 - from, i);
      ASSERT_TRUE(world.poll_until(
          [&] { return connections(world, 0) == lanes && connections(world, 1) == lanes; }));
      const std::uint32_t first = turn / 2 % 2;
      world[first].disconnect(1 - first);
      for (std::uint32_t i = 0; i < turn; ++i) world.poll();
      world[1 - first].disconnect(first);
      ASSERT_TRUE(parted(world)) << turn;
      EXPECT_TRUE(world[0].known_peers().empty() && world[1].known_peers().empty());
      EXPECT_EQ(world.ranks[0]->sink.packets.size() + world.ranks[1]->sink.packets.size(),
                10U * (std::size_t(turn) + 1));
    }
    expect_no_loss(world);
  }
}

/// It is missed if it dies.
TEST(TcpParting, Who_is_needed_by_the_other_side_keeps_the_connection) {
  World world(2);
  world.send(0, 1, 0);
  ASSERT_TRUE(took(world, 1, 1));
  world[0].disconnect(1);
  for (unsigned i = 0; i < 2000; ++i) world.poll();
  EXPECT_EQ(connections(world, 0), 1U);
  EXPECT_EQ(connections(world, 1), 1U);
  world.ranks[1]->tcp.reset();
  ASSERT_TRUE(world.poll_until([&] { return !world.ranks[0]->losses.empty(); }));
}

TEST(TcpParting, Who_sends_again_is_not_idle_any_more) {
  World world(2);
  world.send(0, 1, 0);
  ASSERT_TRUE(took(world, 1, 1));
  world[0].disconnect(1);
  world.send(0, 1, 1);
  ASSERT_TRUE(took(world, 1, 2));
  world[1].disconnect(0);
  for (unsigned i = 0; i < 2000; ++i) world.poll();
  EXPECT_EQ(connections(world, 0), 1U) << "rank 0 has sent something since it was idle";
  world[0].disconnect(1);
  ASSERT_TRUE(parted(world));
  expect_no_loss(world);
}

TEST(TcpParting, What_is_posted_meanwhile_comes_over_this_connection_or_another_one) {
  World world(2);
  world.send(0, 1, 0);
  ASSERT_TRUE(took(world, 1, 1));
  for (std::uint32_t turn = 1; turn < 60; ++turn) {
    world[0].disconnect(1);
    world[1].disconnect(0);
    for (std::uint32_t i = 0; i < turn % 7; ++i) world.poll();
    const std::uint32_t from = turn % 2;
    const std::size_t before = world.ranks[1 - from]->sink.packets.size();
    world.send(from, 1 - from, static_cast<int>(turn));
    ASSERT_TRUE(took(world, 1 - from, before + 1)) << turn;
  }
  expect_no_loss(world);
}

TEST(TcpParting, Peer_that_leaves_or_dies_meanwhile_is_what_it_would_be) {
  World world(2);
  world.send(0, 1, 0);
  ASSERT_TRUE(took(world, 1, 1));
  world[0].disconnect(1);
  world[1].disconnect(0);
  leave(world, 1);
  expect_no_loss(world);
  ASSERT_TRUE(world[1].resume().ok());
  world.send(0, 1, 1);
  ASSERT_TRUE(took(world, 1, 2));
  world[0].disconnect(1);
  world[1].disconnect(0);
  world.ranks[1]->tcp.reset();
  ASSERT_TRUE(world.poll_until(
      [&] { return !world.ranks[0]->losses.empty() || connections(world, 0) == 0; }));
  EXPECT_EQ(world.ranks[0]->losses.size(), 1U);
}

TEST(TcpParting, Id_of_a_peer_that_is_forgotten_is_as_new) {
  World world(2);
  world.send(0, 1, 0);
  ASSERT_TRUE(took(world, 1, 1));
  EXPECT_FALSE(world[0].forget(1)) << "there is a connection";
  world[0].disconnect(1);
  world[1].disconnect(0);
  ASSERT_TRUE(parted(world));
  EXPECT_TRUE(world[0].forget(1));
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  world.ranks[1]->tcp.reset();
  ASSERT_TRUE(world.poll_until([&] { return !world[0].alive(1); }));
  EXPECT_TRUE(world[0].forget(1));
  EXPECT_TRUE(world[0].alive(1)) << "another process has this number now";
}

/// Nobody waits for them, so they ask for no connection and are no error.
TEST(TcpReturn, Words_about_flow_to_a_rank_that_has_left_are_dropped) {
  World world(2);
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  leave(world, 1);
  ASSERT_TRUE(world.poll_until([&] { return world[0].streams().connections() == 0; }));
  world.ranks[1]->tcp.reset();
  for (const auto kind : {wire::PacketKind::hold, wire::PacketKind::release, wire::PacketKind::ask,
                          wire::PacketKind::settled}) {
    EXPECT_EQ(world[0].post(1, envelope(0, 0, kind), {}), Post::done);
  }
  world.poll();
  expect_no_loss(world);
}

TEST(TcpReturn, Message_to_a_rank_that_has_left_and_ended_is_an_error) {
  World world(2);
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  leave(world, 1);
  world.ranks[1]->tcp.reset();
  ASSERT_TRUE(world.poll_until([&] {
    return world[0].post(1, envelope(0), {}) == Post::done && !world.ranks[0]->losses.empty();
  }));
  EXPECT_NE(world.ranks[0]->losses[0].text.find("rank 1 has left the job"), std::string::npos);
}

/// What a rank that has said farewell does not answer it never will, until it is back.
TEST(TcpReturn, Farewell_counts_until_the_rank_is_back) {
  for (const Leaving how : {Leaving::may_return, Leaving::for_good}) {
    World world(2);
    world.send(1, 0, 1);
    ASSERT_TRUE(took(world, 0, 1));
    EXPECT_FALSE(world[0].gone(1));
    leave(world, 1, how);
    ASSERT_TRUE(world.poll_until([&] { return world[0].streams().connections() == 0; }));
    EXPECT_EQ(world[0].gone(1), how == Leaving::for_good);
    ASSERT_TRUE(world[1].resume().ok());
    world.send(1, 0, 2);
    ASSERT_TRUE(took(world, 0, 2));
    EXPECT_FALSE(world[0].gone(1));
    expect_no_loss(world);
  }
}

TEST(TcpReturn, Everything_before_a_farewell_has_been_handed_over_when_it_counts) {
  World world(2);
  world.send(1, 0, 0);
  ASSERT_TRUE(took(world, 0, 1));
  constexpr std::size_t messages = 500;
  for (std::size_t i = 0; i < messages; ++i) {
    ASSERT_EQ(world[1].post(0, envelope(0, 1), {}), Post::done);
  }
  world[1].leave(Leaving::for_good);
  ASSERT_TRUE(world.poll_until([&] { return world[0].gone(1); }));
  EXPECT_EQ(world.ranks[0]->sink.packets.size(), 1 + messages);
}

/// Who has left for a while and then ended: found out by a withdrawal, which is no error.
TEST(TcpReturn, Rank_that_has_left_and_ended_is_gone) {
  World world(2);
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  leave(world, 1);
  world[1].close();
  for (const auto kind : {wire::PacketKind::cancel, wire::PacketKind::cancel_reply}) {
    ASSERT_TRUE(
        world.poll_until([&] { return world[0].post(1, envelope(0, 0, kind), {}) == Post::done; }));
    EXPECT_TRUE(world[0].gone(1));
  }
  world.poll();
  expect_no_loss(world);
}

TEST(TcpReturn, Message_that_is_taken_back_in_time_is_no_error) {
  World world(2);
  world.send(1, 0, 1);
  ASSERT_TRUE(took(world, 0, 1));
  leave(world, 1);
  world[1].close();
  ASSERT_TRUE(world.poll_until([&] {
    if (world[0].gone(1)) return true;
    EXPECT_EQ(world[0].post(1, envelope(0), {}), Post::again);
    return false;
  }));
  EXPECT_EQ(world[0].post(1, envelope(0), {}), Post::again);
  world.poll();
  expect_no_loss(world);
}

/// A rank that leaves while it waits for a peer that may be using its connection already. As the
/// engine waits: nothing that moves, then a sleep that has to end in time. It never sleeps here, so it
/// lies down at every moment, also in the last one.
TEST(TcpReturn, Rank_that_leaves_is_woken_when_a_silent_peer_has_had_its_time) {
  constexpr std::uint64_t longest_ns = 500'000'000;
  for (unsigned steps = 1; steps < 64; ++steps) {
    World world(2);
    ASSERT_EQ(world[1].post(0, envelope(0), {}), Post::again);
    for (unsigned i = 0; i < steps; ++i) {
      world.poll();
      world[1].poll(world.ranks[1]->sink);
    }
    ASSERT_EQ(world[1].streams().connections(), 0U) << "it never waited for the decision";
    world[1].leave(Leaving::may_return);
    if (world[1].quiesced()) continue;
    const std::uint64_t latest = base::now_ns() + longest_ns;
    while (!world[1].quiesced()) {
      if (world[1].poll(world.ranks[1]->sink) != 0) continue;
      ASSERT_FALSE(world[1].quiesced()) << "or it would sleep now";
      if (!world[1].arm()) continue;
      ASSERT_GE(world[1].next_deadline_ns(), 0);
      ASSERT_LE(std::uint64_t(world[1].next_deadline_ns()), latest);
    }
    EXPECT_GE(base::now_ns(), latest - 1'000'000);
    return;
  }
  FAIL() << "it never waited for the decision";
}

TEST(TcpConnect, Sleeper_is_woken_by_a_caller) {
  World world(2);
  KeepingSink ignored;
  ASSERT_TRUE(world[1].arm());
  ASSERT_EQ(world[0].post(1, envelope(0), {}), Post::again);
  bool woken = false;
  for (unsigned i = 0; i < patience && !woken; ++i) {
    world[0].poll(ignored);
    pollfd waiting{world[1].descriptor(), POLLIN, 0};
    woken = ::poll(&waiting, 1, 0) == 1;
  }
  EXPECT_TRUE(woken);
}

/// What it has not acknowledged does not keep it from learning of the end at once.
TEST(TcpLoss, Peer_that_is_lost_is_told_so_by_a_reset) {
  TcpNet net(2);
  KeepingSink sink;
  const auto ends = loopback_sockets();
  ASSERT_TRUE(net[0].adopt(1, 0, ends.first).ok());
  const wire::TcpFrame wrong = wire::tcp_frame(envelope(8), 0, 1);
  ASSERT_EQ(::send(ends.second, &wrong, sizeof wrong, 0), ssize_t{sizeof wrong});
  for (unsigned i = 0; i < patience && net.losses(0).empty(); ++i) net[0].poll(sink);
  ASSERT_EQ(net.losses(0).size(), 1U);
  pollfd ended{ends.second, POLLIN, 0};
  ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
  char byte = 0;
  EXPECT_EQ(::recv(ends.second, &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET);
  ::close(ends.second);
}

}  // namespace
}  // namespace fulmar::fabric
