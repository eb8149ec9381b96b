// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "protocol/remote_peer.h"

/// Whole messages over adapters, both sides being devices.
namespace fulmar::device {
namespace {

enum class Receive { first, late };
/// What goes wrong.
enum class Trouble {
  none,
  first_refused,   ///< to open memory, the first time that one wants to
  second_refused,  ///< the second time
  low_limit,       ///< memory of such messages is never opened
  some_fail,       ///< of the orders
  no_room,         ///< one order at a time
};

struct Path {
  RdmaProtocol from;
  RdmaProtocol to;
  Trouble trouble;
  Receive order;
  SendMode mode;
};

void cause(Trouble trouble, fabric::FakeMemory& memory) {
  if (trouble == Trouble::low_limit) memory.limit_open(1000);
  if (trouble == Trouble::no_room) memory.set_room(1);
  if (trouble == Trouble::first_refused) memory.refuse_to_open(1);
  if (trouble == Trouble::some_fail) memory.fail_orders(2);
}

class RemotePath : public ::testing::TestWithParam<Path> {
 protected:
  static constexpr std::size_t bytes = 2 * order_bytes + 1;

  /// Into `room` bytes.
  static void run(const Path& path, std::size_t room, Layout from, Layout to) {
    Cluster cluster(2, remote_config(path.to));
    cluster.device(0).set_remote_way(path.from);
    cluster.network.set_reach(false);
    fabric::FakeMemory& memory = cluster.network.memory();
    memory.turn_on();
    cause(path.trouble, memory);
    std::unique_ptr<Message> receive;
    if (path.order == Receive::first) receive = cluster.receive(1, 0, 3, room, to);
    auto send = cluster.send(0, 1, 3, bytes, 9, path.mode, from);
    if (path.trouble == Trouble::second_refused) memory.refuse_to_open(1);
    if (path.order == Receive::late) {
      cluster.step(20);
      receive = cluster.receive(1, 0, 3, room, to);
    }
    cluster.settle();
    ASSERT_TRUE(send->done() && receive->done());
    const std::size_t fits = std::min(room, bytes);
    EXPECT_EQ(send->outcome().error, base::ErrorClass::success);
    EXPECT_EQ(receive->outcome().error,
              room < bytes ? base::ErrorClass::truncate : base::ErrorClass::success);
    EXPECT_TRUE(holds(*receive, 9, fits));
    EXPECT_TRUE(cluster.clean());
    for (const std::uint32_t id : {0U, 1U}) {
      EXPECT_EQ(cluster.device(id).counters().malformed, 0U);
    }
  }
};

TEST_P(RemotePath, Message_arrives_whole_or_truncated) {
  for (const std::size_t room : {bytes, bytes + 9, bytes - 1, std::size_t{1}, std::size_t{0}}) {
    run(GetParam(), room, Layout::dense, Layout::dense);
  }
}

TEST_P(RemotePath, Data_in_several_runs_arrive) {
  for (const Layout from : {Layout::dense, Layout::runs, Layout::strided}) {
    for (const Layout to : {Layout::dense, Layout::runs, Layout::strided}) {
      run(GetParam(), bytes, from, to);
    }
  }
}

std::vector<Path> all_paths() {
  constexpr std::array ways = {RdmaProtocol::automatic, RdmaProtocol::fetch, RdmaProtocol::put,
                               RdmaProtocol::off};
  std::vector<Path> paths;
  for (const RdmaProtocol from : ways) {
    for (const RdmaProtocol to : ways) {
      for (const Trouble trouble : {Trouble::none, Trouble::first_refused, Trouble::second_refused,
                                    Trouble::low_limit, Trouble::some_fail, Trouble::no_room}) {
        const bool late = paths.size() % 2 == 0;
        paths.push_back({from, to, trouble, late ? Receive::late : Receive::first,
                         late ? SendMode::standard : SendMode::synchronous});
        paths.push_back(
            {from, to, trouble, late ? Receive::first : Receive::late, SendMode::standard});
      }
    }
  }
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Protocol, RemotePath, ::testing::ValuesIn(all_paths()));

/// How a message moves, by what both sides and their data are.
struct Choice {
  RdmaProtocol from;
  RdmaProtocol to;
  Layout send;
  Layout receive;
  std::uint64_t fetched;
  std::uint64_t put;
};

TEST(RemoteChoice, follows_ways_and_data) {
  using enum RdmaProtocol;
  for (const Choice& choice : {
           Choice{automatic, automatic, Layout::dense, Layout::dense, 1, 0},
           Choice{automatic, automatic, Layout::dense, Layout::runs, 1, 0},
           Choice{automatic, automatic, Layout::runs, Layout::dense, 0, 1},
           Choice{automatic, automatic, Layout::runs, Layout::runs, 0, 0},
           Choice{automatic, automatic, Layout::strided, Layout::dense, 0, 0},
           Choice{automatic, put, Layout::dense, Layout::dense, 0, 1},
           Choice{put, automatic, Layout::dense, Layout::dense, 0, 1},
           Choice{put, put, Layout::dense, Layout::runs, 0, 0},
           Choice{fetch, automatic, Layout::dense, Layout::dense, 1, 0},
           Choice{fetch, automatic, Layout::runs, Layout::dense, 0, 0},
           Choice{fetch, put, Layout::dense, Layout::dense, 0, 0},
           Choice{put, fetch, Layout::dense, Layout::dense, 0, 0},
           Choice{off, automatic, Layout::dense, Layout::dense, 0, 0},
           Choice{automatic, off, Layout::dense, Layout::dense, 0, 0},
       }) {
    Cluster cluster(2, remote_config(choice.to));
    cluster.device(0).set_remote_way(choice.from);
    cluster.network.set_reach(false);
    cluster.network.memory().turn_on();
    auto receive = cluster.receive(1, 0, 3, 90000, choice.receive);
    auto send = cluster.send(0, 1, 3, 90000, 9, SendMode::standard, choice.send);
    cluster.settle();
    EXPECT_TRUE(holds(*receive, 9, 90000));
    const Counters& receiver = cluster.device(1).counters();
    EXPECT_EQ(receiver.fetched, choice.fetched);
    EXPECT_EQ(cluster.device(0).counters().put, choice.put);
    EXPECT_EQ(receiver.streamed, 1 - choice.fetched - choice.put);
  }
}

/// A program may change its memory as soon as its send is done, and look at it as soon as its
/// receive is. Whoever says so before the adapters are done with it is found out here.
TEST(Remote, Done_means_that_no_adapter_needs_the_memory) {
  for (const RdmaProtocol way : {RdmaProtocol::fetch, RdmaProtocol::put}) {
    for (std::uint64_t seed = 1; seed < 10; ++seed) {
      Cluster cluster(2, remote_config(way), seed);
      cluster.network.memory().turn_on();
      cluster.network.set_reluctance(0.3);
      auto receive = cluster.receive(1, 0, 3, 100000);
      auto send = cluster.send(0, 1, 3, 100000, 9);
      while (!send->done() || !receive->done()) {
        cluster.step();
        if (send->done()) std::fill(send->memory.begin(), send->memory.end(), std::byte{1});
        const bool whole = !receive->done() || holds(*receive, 9, 100000);
        ASSERT_TRUE(whole);
      }
      cluster.settle();
      EXPECT_TRUE(cluster.clean());
    }
  }
}

/// Many messages both ways at once, of which each needs more orders than there is room for.
TEST(Remote, Many_messages_share_the_room) {
  for (const RdmaProtocol way : {RdmaProtocol::fetch, RdmaProtocol::put}) {
    Cluster cluster(3, remote_config(way));
    cluster.network.memory().turn_on();
    cluster.network.memory().set_room(5);
    std::vector<std::unique_ptr<Message>> sends;
    std::vector<std::unique_ptr<Message>> receives;
    for (std::uint32_t i = 0; i < 30; ++i) {
      const std::uint32_t from = i % 3;
      const std::uint32_t to = (i + 1 + i / 3 % 2) % 3;
      const auto tag = static_cast<std::int32_t>(i);
      sends.push_back(cluster.send(from, to, tag, 90000, i));
      receives.push_back(cluster.receive(to, from, tag, 90000));
    }
    cluster.settle();
    for (std::uint32_t i = 0; i < 30; ++i) {
      EXPECT_TRUE(sends[i]->done() && holds(*receives[i], i, 90000));
    }
    EXPECT_TRUE(cluster.clean());
  }
}

/// A peer dies at every moment of a message. Expect: what has ended is whole or an error, and no
/// memory of the survivor is under an order or forgotten.
TEST(Remote, Death_at_every_moment) {
  for (const RdmaProtocol way : {RdmaProtocol::fetch, RdmaProtocol::put}) {
    for (const std::uint32_t dies : {0U, 1U}) {
      for (unsigned moment = 0; moment < 30; ++moment) {
        Cluster cluster(2, remote_config(way), moment + 1);
        cluster.network.set_reach(false);
        cluster.network.memory().turn_on();
        auto receive = cluster.receive(1, 0, 3, 100000);
        auto send = cluster.send(0, 1, 3, 100000, 9);
        cluster.step(moment);
        cluster.network.kill(dies);
        Device& survivor = cluster.device(1 - dies);
        for (unsigned i = 0; i < 5000; ++i) survivor.progress();
        EXPECT_EQ(survivor.transfers(), 0U);
        EXPECT_EQ(cluster.network.memory().under_way(), 0U);
        EXPECT_EQ(cluster.network.memory().counters().breaches, 0U);
        if (dies == 0 && receive->done() && receive->outcome().error == base::ErrorClass::success) {
          EXPECT_TRUE(holds(*receive, 9, 100000));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fulmar::device
