// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "provider/remote_pair.h"
#include "provider/verbs_net.h"

/// Quiet puts, puts that tell of themselves and changes over verbs: what is the network's own about
/// them. What every provider promises is in polled_test.cc.
namespace fulmar::fabric {
namespace {

/// Two ranks; rank 1 has opened memory for rank 0.
struct Two {
  explicit Two(const VerbsHabits& habits = {}) : net(2, habits) {
    source = open(0, mine, Access::local);
    target = open(1, theirs, Access::peers_write);
    EXPECT_TRUE(send(net, sinks, 0, 1, 8));
    EXPECT_TRUE(poll_until(net, sinks, [&] { return sinks[1].tags.size() == 1; }));
  }
  MemoryRegion open(std::uint32_t rank, std::span<std::byte> memory, Access access) {
    const auto opened = net[rank].open_memory(memory, access);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return opened.value();
  }
  [[nodiscard]] RemoteAddress place() const {
    return {reinterpret_cast<std::uintptr_t>(theirs.data()), target.rkey};
  }
  Post rdma_write_unsignaled(std::size_t bytes) {
    return net[0].rdma_write_unsignaled(1, std::span(mine).first(bytes), source.lkey, place());
  }
  Post rdma_write_with_immediate(std::uint16_t word) {
    const Post answer = net[0].rdma_write_with_immediate(1, std::span(mine).first(8), source.lkey,
                                                         place(), word, next);
    if (answer == Post::done) ++next;
    return answer;
  }
  [[nodiscard]] const verbs::Messages::Counters& counters(unsigned rank) {
    return net[rank].messages().counters();
  }
  [[nodiscard]] QueueStandIn& queue(unsigned rank) {
    return **net.ranks[rank]->adapter->queues().begin();
  }
  template <class Done>
  bool until(Done done) {
    return poll_until(net, sinks, done);
  }

  VerbsNet net;
  std::vector<RemoteSink> sinks = std::vector<RemoteSink>(2);
  std::vector<std::byte> mine = pattern(10'000, 1);
  std::vector<std::byte> theirs = std::vector<std::byte>(10'000);
  MemoryRegion source;
  MemoryRegion target;
  std::uint64_t next = 0;
};

TEST(VerbsPolled, Many_quiet_puts_cost_few_completions) {
  for (const std::size_t bytes : {8U, 5000U}) {
    Two two;
    const std::uint64_t before = two.counters(0).completions;
    for (int i = 0; i < 1000;) {
      if (two.rdma_write_unsignaled(bytes) == Post::done) ++i;
      two.net[0].poll(two.sinks[0]);
    }
    EXPECT_EQ(two.counters(0).unsignaled_writes, 1000U);
    EXPECT_LT(two.counters(0).completions - before, 1000U / 12);
    EXPECT_TRUE(two.sinks[0].ended.empty());
  }
}

TEST(VerbsPolled, Short_quiet_puts_are_copied_by_an_adapter_without_inline_data) {
  Two two({.inline_bytes = 0});
  std::uint64_t word = 77;
  ASSERT_EQ(two.net[0].rdma_write_unsignaled(1, std::as_bytes(std::span(&word, 1)), 0, two.place()),
            Post::done);
  word = 78;
  ASSERT_TRUE(two.until([&] { return two.theirs[0] == std::byte{77}; }));
  // A packet's end frees the copy.
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(send(two.net, two.sinks, 0, 1, 5000));
  ASSERT_TRUE(two.until([&] { return two.net[0].messages().sends().in_use() < 8; }));
}

TEST(VerbsPolled, Quiet_puts_leave_room_for_signals_and_never_overrun_the_queue) {
  Two two({.send_depth = 16, .completion_depth = 64});
  two.net.wires.habits.lag = 1;  // nothing of it is carried out
  int taken = 0;
  while (two.rdma_write_unsignaled(8) == Post::done) {
    ASSERT_LT(++taken, 17);
    two.net[0].poll(two.sinks[0]);
  }
  EXPECT_LE(taken, 16 - 4);
  EXPECT_GE(taken, 16 - 6);
  two.net.wires.habits.lag = 0;
  ASSERT_TRUE(two.until([&] { return two.rdma_write_unsignaled(8) == Post::done; }));
}

TEST(VerbsPolled, Puts_that_tell_are_within_the_window) {
  Two two;
  unsigned posted = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    if (two.rdma_write_with_immediate(1) == Post::done) ++posted;
    two.net[0].poll(two.sinks[0]);  // rank 1 takes none
  }
  EXPECT_LE(posted, verbs::Messages::window_in_place);
  EXPECT_GT(posted, 20U);
  ASSERT_TRUE(two.until([&] { return two.sinks[1].words.size() == posted; }));
  ASSERT_TRUE(two.until([&] { return two.rdma_write_with_immediate(2) == Post::done; }));
}

TEST(VerbsPolled, Words_that_somebody_slips_in_end_the_connection_and_reach_nobody) {
  for (const bool changed : {true, false}) {
    Two two;
    ASSERT_EQ(two.rdma_write_with_immediate(5), Post::done);
    auto& mail = two.queue(1).mail;
    ASSERT_EQ(mail.size(), 1U);
    if (changed) {
      *mail.front().word ^= 1U << 20;
    } else {
      // The genuine one is repeated.
      QueueStandIn::Mail again;
      again.kind = QueueStandIn::Kind::rdma_write;
      again.word = mail.front().word;
      mail.push_back(again);
    }
    ASSERT_TRUE(two.until([&] { return !two.net.losses(1).empty(); }));
    EXPECT_NE(two.net.losses(1)[0].text.find("a wrong proof"), std::string::npos);
    EXPECT_EQ(two.sinks[1].words.size(), changed ? 0U : 1U);
  }
}

TEST(VerbsPolled, Adapter_without_atomic_operations_says_so) {
  Two two({.atomics = false});
  EXPECT_EQ(two.net[0].changes_memory(), Network::Changes::none);
  ASSERT_EQ(
      two.net[0].fetch_add(1, std::span(two.mine).first(8), two.source.lkey, two.place(), 1, 4),
      Post::done);
  ASSERT_TRUE(two.until([&] { return two.sinks[0].ended.size() == 1; }));
  EXPECT_EQ(two.sinks[0].ended[4], Sent::lost);
  EXPECT_TRUE(two.net[0].alive(1));
}

TEST(VerbsPolled, Quiet_put_to_a_peer_that_has_left_is_dropped_and_the_peer_not_lost) {
  Two two;
  two.net[1].leave(Leaving::for_good);
  ASSERT_TRUE(two.until([&] { return two.net[1].quiesced(); }));
  const std::uint64_t before = two.counters(0).unsignaled_writes;
  EXPECT_EQ(two.rdma_write_unsignaled(8), Post::done);
  EXPECT_EQ(two.counters(0).unsignaled_writes, before);
  EXPECT_TRUE(two.net[0].alive(1));
}

}  // namespace
}  // namespace fulmar::fabric
