// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/verbs/verbs.h"
#include "provider/verbs_net.h"

/// With a completion queue of their own, completions wake the thread that sleeps on them, and messages the
/// other one (Network::completion_descriptor).
namespace fulmar::fabric {
namespace {

constexpr std::uint64_t token = 7;

bool is_readable(int descriptor) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

struct EndSink : KeepingSink {
  std::size_t ended = 0;
  void sent(std::uint64_t ended_token, Sent how) {
    EXPECT_EQ(ended_token, token);
    EXPECT_EQ(how, Sent::done);
    ++ended;
  }
};

/// Rank 1 has two threads to sleep with; rank 0 sends to it, and has memory that it reads.
class VerbsApart : public ::testing::Test {
 protected:
  VerbsNet net{2, {.rings = 0, .completion_queues = verbs::CompletionQueues::two, .calls = true}};
  std::vector<EndSink> sinks = std::vector<EndSink>(2);
  std::array<std::byte, 64> there{};
  std::array<std::byte, 64> here{};
  MemoryRegion opened_there;
  MemoryRegion opened_here;

  void SetUp() override {
    ASSERT_TRUE(send(net, sinks, 0, 1, 8));
    ASSERT_TRUE(poll_until(net, sinks, [&] { return sinks[1].packets.size() == 1; }));
    opened_there = net[0].open_memory(there, Access::peers_read).value();
    opened_here = net[1].open_memory(here, Access::local).value();
    me().set_completion_wakeup(CompletionWakeup::separate);
  }
  Verbs& me() { return net[1]; }
  bool arrivals_call() { return is_readable(me().descriptor()); }
  bool ends_call() { return is_readable(me().completion_descriptor()); }
  /// What both threads do before they sleep: true if both may, and nothing calls.
  bool prepare_sleep() {
    for (int i = 0; i < 100; ++i) {
      me().poll(sinks[1]);
      if (me().arm() && me().arm_completions()) return !arrivals_call() && !ends_call();
    }
    return false;
  }
  void send_here() {
    ASSERT_EQ(post(net[0], 1, 8), Post::done);
    net.wires.turn();
  }
  void fetch_here() {
    const RemoteAddress place{opened_there.name_of(there.data()), opened_there.rkey};
    ASSERT_EQ(me().rdma_read(0, here, opened_here.lkey, place, token), Post::done);
    net.wires.turn();
  }
};

TEST_F(VerbsApart, Ends_of_own_orders_call_one_sleeper_and_messages_the_other) {
  for (std::size_t round = 1; round < 40; ++round) {
    ASSERT_TRUE(prepare_sleep()) << round;
    send_here();
    EXPECT_TRUE(arrivals_call());
    EXPECT_FALSE(ends_call());
    me().poll(sinks[1]);
    EXPECT_EQ(sinks[1].packets.size(), 1 + round);
    net[0].poll(sinks[0]);
    ASSERT_TRUE(prepare_sleep()) << round;
    fetch_here();
    EXPECT_FALSE(arrivals_call());
    EXPECT_TRUE(ends_call());
    me().poll(sinks[1]);
    EXPECT_EQ(sinks[1].ended, round);
  }
}

TEST_F(VerbsApart, Each_is_called_though_the_other_has_taken_what_came) {
  ASSERT_TRUE(prepare_sleep());
  send_here();
  fetch_here();
  me().poll(sinks[1]);  // the one that was called first takes both
  EXPECT_EQ(sinks[1].packets.size(), 2U);
  EXPECT_EQ(sinks[1].ended, 1U);
  EXPECT_TRUE(arrivals_call());
  EXPECT_TRUE(ends_call());
  // The arming of one leaves the call of the other.
  EXPECT_TRUE(me().arm_completions());
  EXPECT_FALSE(ends_call());
  EXPECT_TRUE(arrivals_call());
  EXPECT_TRUE(me().arm());
  EXPECT_FALSE(arrivals_call());
}

TEST_F(VerbsApart, What_came_before_the_arming_keeps_from_sleeping) {
  ASSERT_TRUE(prepare_sleep());
  fetch_here();
  EXPECT_FALSE(me().arm_completions());
  me().poll(sinks[1]);
  EXPECT_EQ(sinks[1].ended, 1U);
  EXPECT_TRUE(me().arm_completions());
  // A message as well: the look that follows takes it, and the other one finds nothing.
  send_here();
  EXPECT_FALSE(me().arm_completions());
  me().poll(sinks[1]);
  EXPECT_EQ(sinks[1].packets.size(), 2U);
  EXPECT_TRUE(me().arm_completions());
}

TEST_F(VerbsApart, Told_together_again_they_call_the_one_sleeper) {
  for (const CompletionWakeup how :
       {CompletionWakeup::shared, CompletionWakeup::separate, CompletionWakeup::shared}) {
    ASSERT_TRUE(prepare_sleep());
    me().set_completion_wakeup(how);
    ASSERT_TRUE(me().arm());
    fetch_here();
    EXPECT_EQ(arrivals_call(), how == CompletionWakeup::shared);
    me().poll(sinks[1]);
  }
}

TEST(VerbsTogether, One_queue_has_nothing_to_tell_apart) {
  VerbsNet net(2, {.calls = true});
  EXPECT_LT(net[0].completion_descriptor(), 0);
  net[0].set_completion_wakeup(CompletionWakeup::separate);
  EXPECT_TRUE(net[0].arm());
}

}  // namespace
}  // namespace fulmar::fabric
