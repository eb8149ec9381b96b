// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fabric/fake/fake.h"

namespace fulmar::fabric {
namespace {

/// Hears of packets and orders in the order in which they come.
struct Listener {
  void packet(std::uint32_t /*peer*/, const wire::Envelope& envelope, const Body& /*body*/) {
    tags.push_back(envelope.tag);
  }
  void sent(std::uint64_t token, Sent how) { ended.emplace_back(token, how); }
  std::vector<std::int32_t> tags;
  std::vector<std::pair<std::uint64_t, Sent>> ended;
};

/// Two ports; each has some memory.
class Adapters : public ::testing::Test {
 protected:
  Adapters() : network(2), here(network, 0), there(network, 1), own(100), theirs(100) {
    memory().turn_on();
    std::fill(theirs.begin(), theirs.end(), std::byte{7});
  }
  FakeMemory& memory() { return network.memory(); }
  MemoryRegion open(Fake& port, std::vector<std::byte>& bytes, Access access) {
    auto opened = port.open_memory(bytes, access);
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  [[nodiscard]] RemoteAddress place(const MemoryRegion& opened, std::size_t offset = 0) {
    return {reinterpret_cast<std::uintptr_t>(theirs.data()) + offset, opened.rkey};
  }
  void time(unsigned times = 50) {
    for (unsigned i = 0; i < times; ++i) here.poll(heard);
  }

  FakeNetwork network;
  Fake here;
  Fake there;
  std::vector<std::byte> own;
  std::vector<std::byte> theirs;
  Listener heard;
};

TEST_F(Adapters, Fetch_reads_what_is_there_when_it_happens) {
  const auto local = open(here, own, Access::local);
  const auto remote = open(there, theirs, Access::peers_read);
  memory().hold_orders();
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 5), Post::done);
  time();
  EXPECT_TRUE(heard.ended.empty());
  theirs[3] = std::byte{9};
  EXPECT_TRUE(memory().move_order(0));
  theirs[4] = std::byte{9};
  EXPECT_EQ(own[3], std::byte{9});
  EXPECT_EQ(own[4], std::byte{7});
  time();
  EXPECT_EQ(heard.ended, (std::vector<std::pair<std::uint64_t, Sent>>{{5, Sent::done}}));
}

TEST_F(Adapters, Packet_behind_a_put_comes_behind_its_bytes) {
  const auto local = open(here, own, Access::local);
  const auto remote = open(there, theirs, Access::peers_write);
  memory().hold_orders();
  const wire::Envelope envelope{wire::PacketKind::eager, 0, 0, 1, 0};
  EXPECT_EQ(here.post(1, envelope, {}), Post::done);
  EXPECT_EQ(here.rdma_write(1, own, local.lkey, place(remote), 5), Post::done);
  EXPECT_EQ(here.post(1, envelope, {}), Post::done);
  EXPECT_EQ(there.poll(heard), 1U);
  EXPECT_EQ(theirs[0], std::byte{7});
  EXPECT_EQ(there.poll(heard), 1U);
  EXPECT_EQ(theirs[0], std::byte{0});
  EXPECT_EQ(memory().under_way(), 1U);
  time();
  EXPECT_EQ(memory().under_way(), 0U);
}

TEST_F(Adapters, What_is_not_open_for_it_ends_the_connection) {
  for (const Access access : {Access::local, Access::peers_write, Access::peers_read}) {
    FakeNetwork other(2);
    other.memory().turn_on();
    Fake reader(other, 0);
    Fake owner(other, 1);
    const auto local = open(reader, own, Access::local);
    const auto remote = open(owner, theirs, access);
    const std::size_t offset = access == Access::peers_read ? 1 : 0;  // one byte too far
    Listener ends;
    EXPECT_EQ(reader.rdma_read(1, own, local.lkey, place(remote, offset), 5), Post::done);
    for (unsigned i = 0; i < 50; ++i) reader.poll(ends);
    EXPECT_EQ(ends.ended, (std::vector<std::pair<std::uint64_t, Sent>>{{5, Sent::lost}}));
    EXPECT_FALSE(reader.alive(1) || owner.alive(0));
    EXPECT_EQ(other.memory().counters().bad_places, 1U);
    EXPECT_EQ(own[0], std::byte{0});
  }
}

TEST_F(Adapters, Memory_closed_under_an_order_is_a_breach) {
  const auto local = open(here, own, Access::local);
  const auto remote = open(there, theirs, Access::peers_read);
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 5), Post::done);
  here.close_memory(local);
  EXPECT_EQ(memory().counters().breaches, 1U);
  here.close_memory(local);
  EXPECT_EQ(memory().counters().breaches, 2U);
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 6), Post::done);
  EXPECT_EQ(memory().counters().breaches, 3U);
}

TEST_F(Adapters, Death_in_the_middle_ends_orders_with_half_of_the_bytes) {
  const auto local = open(here, own, Access::local);
  const auto remote = open(there, theirs, Access::peers_read);
  memory().hold_orders();
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 5), Post::done);
  network.kill(1);
  time();
  EXPECT_EQ(heard.ended, (std::vector<std::pair<std::uint64_t, Sent>>{{5, Sent::lost}}));
  EXPECT_EQ(own[49], std::byte{7});
  EXPECT_EQ(own[50], std::byte{0});
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 6), Post::done);
  time();
  EXPECT_EQ(heard.ended.back(), (std::pair<std::uint64_t, Sent>{6, Sent::lost}));
}

TEST_F(Adapters, Refuse_as_they_are_told) {
  memory().refuse_to_open(1);
  EXPECT_TRUE(here.open_memory(own, Access::local).failed());
  memory().limit_open(150);
  const auto local = open(here, own, Access::local);
  EXPECT_TRUE(here.open_memory(own, Access::local).failed());
  const auto remote = open(there, theirs, Access::peers_read);
  memory().set_room(1);
  memory().hold_orders();
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 5), Post::done);
  EXPECT_EQ(here.rdma_read(1, own, local.lkey, place(remote), 6), Post::again);
  memory().let_orders_go();
  memory().fail_orders(1);
  time();
  EXPECT_EQ(heard.ended.back(), (std::pair<std::uint64_t, Sent>{5, Sent::lost}));
  EXPECT_TRUE(here.alive(1));
  EXPECT_EQ(own[0], std::byte{0});
}

TEST_F(Adapters, Are_off_at_first) {
  FakeNetwork other(1);
  EXPECT_TRUE(Fake(other, 0).open_memory(own, Access::local).failed());
}

}  // namespace
}  // namespace fulmar::fabric
