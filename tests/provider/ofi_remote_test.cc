// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "provider/ofi_net.h"
#include "provider/ofi_real.h"
#include "provider/remote_pair.h"
#include "provider/tcp_net.h"

/// What is made of reads and writes of memory by endpoints of libfabric, and of silence. What all
/// providers promise about memory is in remote_test.cc.
namespace fulmar::fabric {
namespace {

constexpr std::size_t bytes = 1000;
/// With every look that reads the clock.
constexpr std::int64_t always_ns = 1;

/// Rank 0 gives orders to rank 1, whose memory is open for both uses.
struct PendingOperations {
  OfiNet net;
  RemoteSink sinks[2];
  std::vector<std::byte> mine = pattern(bytes, 1);
  std::vector<std::byte> readable = pattern(bytes, 2);
  std::vector<std::byte> writable = std::vector<std::byte>(bytes);
  MemoryRegion own = open(0, mine, Access::local);
  MemoryRegion read = open(1, readable, Access::peers_read);
  MemoryRegion written = open(1, writable, Access::peers_write);
  std::uint64_t next = 0;

  explicit PendingOperations(const OfiHabits& habits = {}) : net(2, habits) {}
  MemoryRegion open(std::size_t rank, std::span<std::byte> memory, Access access) {
    auto opened = net[rank].open_memory(memory, access);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    return opened.ok() ? opened.value() : MemoryRegion{};
  }
  Post fetch() {
    const RemoteAddress place{read.name_of(readable.data()), read.rkey};
    return net[0].rdma_read(1, mine, own.lkey, place, next++);
  }
  Post put() {
    const RemoteAddress place{written.name_of(writable.data()), written.rkey};
    return net[0].rdma_write(1, mine, own.lkey, place, next++);
  }
  Post post(std::int32_t tag) {
    return net[0].post(1, envelope(8, tag), pattern(8, static_cast<unsigned>(tag)));
  }
  void look(std::size_t rank) {
    if (net.ranks[rank]->ofi != nullptr) net[rank].poll(sinks[rank]);
  }
  template <class Done>
  [[nodiscard]] bool until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      look(0);
      look(1);
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }
};

TEST(OfiRemote, Packet_waits_until_what_was_put_before_it_is_there) {
  PendingOperations orders;
  ASSERT_EQ(orders.put(), Post::done);
  for (int i = 0; i < 10; ++i) {
    orders.look(0);
    EXPECT_EQ(orders.post(3), Post::again);
    EXPECT_EQ(orders.net.wires.sends, 0U);
  }
  orders.look(1);  // carries the order out
  orders.look(0);
  ASSERT_EQ(orders.sinks[0].ended.size(), 1U);
  EXPECT_EQ(orders.post(3), Post::done);
  ASSERT_TRUE(orders.until([&] { return orders.sinks[1].tags.size() == 1; }));
  EXPECT_EQ(orders.writable, pattern(bytes, 1));
}

TEST(OfiRemote, Packets_pass_fetches) {
  PendingOperations orders;
  ASSERT_EQ(orders.fetch(), Post::done);
  EXPECT_EQ(orders.post(3), Post::done);
}

/// One put behind the other would keep a packet waiting for ever.
TEST(OfiRemote, Puts_let_a_packet_pass_that_waits) {
  PendingOperations orders;
  unsigned rdma_writes = 0;
  int tag = 0;
  for (unsigned i = 0; i < 20'000 && tag < 5; ++i) {
    if (orders.put() == Post::done) ++rdma_writes;
    if (orders.post(tag) == Post::done) ++tag;
    orders.look(0);
    if (orders.put() == Post::done) ++rdma_writes;
    orders.look(1);
  }
  EXPECT_EQ(tag, 5);
  EXPECT_GT(rdma_writes, 5U);
}

TEST(OfiRemote, Packet_that_was_given_up_keeps_no_put_waiting) {
  PendingOperations orders;
  ASSERT_EQ(orders.put(), Post::done);
  EXPECT_EQ(orders.post(1), Post::again);
  EXPECT_EQ(orders.put(), Post::again);
  EXPECT_TRUE(orders.until([&] { return orders.put() == Post::done; }));
}

TEST(OfiRemote, What_is_under_way_is_bounded_and_leaves_room_for_packets) {
  PendingOperations orders;
  unsigned given = 0;
  while (orders.fetch() == Post::done) ++given;
  EXPECT_EQ(given, ofi::PendingOperations::most_to_peer);
  EXPECT_EQ(orders.post(1), Post::done);
  EXPECT_TRUE(orders.net[0].arm());
  EXPECT_GT(orders.net[0].next_deadline_ns(), 0);
  ASSERT_TRUE(orders.until([&] { return orders.sinks[0].ended.size() == given; }));
  EXPECT_EQ(orders.fetch(), Post::done);
}

TEST(OfiRemote, Order_that_fails_loses_the_peer_and_says_why) {
  for (const bool is_put : {false, true}) {
    PendingOperations orders;
    orders.net.wires.memory.fails = 1;
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(is_put ? orders.put() : orders.fetch(), Post::done);
    }
    ASSERT_TRUE(orders.until([&] { return orders.sinks[0].ended.size() == 3; }));
    EXPECT_EQ(orders.sinks[0].count(Sent::lost), 1U);
    ASSERT_EQ(orders.net.losses(0).size(), 1U);
    EXPECT_EQ(orders.net.losses(0)[0].text,
              "lost rank 1 at port 1, over stand;in of libfabric: the port is closed");
    EXPECT_EQ(orders.post(1), Post::done);  // dropped
    EXPECT_EQ(orders.fetch(), Post::done);
    ASSERT_TRUE(orders.until([&] { return orders.sinks[0].ended.size() == 4; }));
    EXPECT_EQ(orders.sinks[0].ended.at(3), Sent::lost);
  }
}

TEST(OfiRemote, Nobody_leaves_before_the_own_orders_have_ended) {
  PendingOperations orders;
  ASSERT_EQ(orders.post(1), Post::done);
  ASSERT_TRUE(orders.until([&] { return orders.sinks[1].tags.size() == 1; }));
  ASSERT_EQ(orders.fetch(), Post::done);
  orders.net[0].leave(Leaving::may_return);
  for (int i = 0; i < 20; ++i) orders.look(0);
  EXPECT_FALSE(orders.net[0].quiesced());
  EXPECT_EQ(orders.net.wires.sends, 1U);  // no bye
  EXPECT_EQ(orders.fetch(), Post::done);
  ASSERT_TRUE(orders.until([&] { return orders.net[0].quiesced(); }));
  EXPECT_EQ(orders.sinks[0].ended.at(0), Sent::done);
  EXPECT_EQ(orders.sinks[0].ended.at(1), Sent::lost);  // it came after the farewell
  EXPECT_TRUE(orders.net.losses(0).empty());
}

TEST(OfiRemote, Refused_memory_is_an_error_and_leaves_nothing_open) {
  OfiNet net(2, {.memory = {.most_regions = 1}});
  std::vector<std::byte> memory(100);
  EXPECT_TRUE(net[0].open_memory({}, Access::peers_read).failed());
  const auto first = net[0].open_memory(memory, Access::peers_read);
  ASSERT_TRUE(first.ok());
  const auto second = net[0].open_memory(memory, Access::peers_write);
  ASSERT_TRUE(second.failed());
  EXPECT_EQ(second.error().error_class(), base::ErrorClass::no_mem);
  net[0].close_memory(first.value());
  EXPECT_EQ(net.wires.memory.regions(), 0U);
  EXPECT_TRUE(net[0].open_memory(memory, Access::peers_write).ok());
}

TEST(OfiRemote, Endpoint_whose_messages_are_short_reaches_no_memory) {
  EXPECT_TRUE(OfiNet(1)[0].moves_remotely(0));
  EXPECT_FALSE(OfiNet(1, {.most_message_bytes = ofi::max_remote_bytes - 1})[0].moves_remotely(0));
  EXPECT_FALSE(OfiNet(1, {.memory = {.is_there = false}})[0].moves_remotely(0));
}

TEST(OfiVigil, Listener_notices_the_death_of_a_sender) {
  PendingOperations orders({.keep_alive_interval_ns = always_ns});
  ASSERT_EQ(orders.net[1].post(0, envelope(8, 1), pattern(8, 1)), Post::done);
  ASSERT_TRUE(orders.until([&] { return orders.sinks[0].tags.size() == 1; }));
  orders.net.kill(1);
  ASSERT_TRUE(orders.until([&] { return !orders.net.losses(0).empty(); }));
  EXPECT_EQ(orders.net.losses(0).size(), 1U);
  EXPECT_NE(orders.net.losses(0)[0].text.find("lost rank 1 at port 1"), std::string::npos);
}

TEST(OfiVigil, Nobody_asks_after_who_is_heard) {
  PendingOperations orders({.keep_alive_interval_ns = always_ns});
  std::uint64_t posted = 0;
  for (int i = 0; i < 3000; ++i) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const auto body = pattern(8, 3);
      if (orders.net[rank].post(1 - rank, envelope(8, 3), body) == Post::done) ++posted;
    }
    orders.look(0);
    orders.look(1);
  }
  EXPECT_EQ(orders.net.wires.sends, posted);
  EXPECT_TRUE(orders.net.losses(0).empty() && orders.net.losses(1).empty());
}

TEST(OfiVigil, Who_computes_is_asked_and_not_dead) {
  PendingOperations orders({.keep_alive_interval_ns = always_ns});
  ASSERT_EQ(orders.post(1), Post::done);
  for (int i = 0; i < 3000; ++i) orders.look(0);
  EXPECT_GT(orders.net.wires.sends, 3U);
  EXPECT_TRUE(orders.net.losses(0).empty());
  ASSERT_TRUE(orders.until([&] { return orders.sinks[1].tags.size() == 1; }));
  EXPECT_TRUE(orders.net.losses(1).empty());
}

/// That a death ends them is for the kernel to show: tests/cluster/test_messages.py.
TEST(OfiVigil, Lifelines_reach_the_real_libfabric_also_of_who_computes) {
  if (const std::string why = lacking_libfabric(); !why.empty()) GTEST_SKIP() << why;
  RealOfi net(2, {.keep_alive_interval_ns = always_ns});
  RemoteSink sinks[2];
  const auto until = [&](auto done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      net[0].poll(sinks[0]);
      if (sinks[0].tags.empty()) net[1].poll(sinks[1]);
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  };
  EXPECT_TRUE(until([&] { return net[0].arm(); }));
  EXPECT_EQ(net[0].next_deadline_ns(), -1);
  bool posted = false;
  ASSERT_TRUE(until([&] {
    posted = posted || net[1].post(0, envelope(8, 1), pattern(8, 1)) == Post::done;
    return sinks[0].tags.size() == 1;
  }));
  ASSERT_TRUE(until([&] { return net[0].messages().probes() == 1; }));
  // A sleeper wakes to ask.
  ASSERT_TRUE(until([&] { return net[0].arm(); }));
  EXPECT_GT(net[0].next_deadline_ns(), 0);
  for (int i = 0; i < 3000; ++i) net[0].poll(sinks[0]);
  EXPECT_TRUE(net.ranks[0].losses.empty());
  net[0].leave(Leaving::may_return);
  net[1].leave(Leaving::may_return);
  ASSERT_TRUE(until([&] {
    net[1].poll(sinks[1]);
    return net[0].quiesced() && net[1].quiesced();
  }));
  EXPECT_EQ(net[0].messages().probes(), 0U);
}

}  // namespace
}  // namespace fulmar::fabric
