// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/rma/remote_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "protocol/cluster.h"

/// One-sided operations as orders of an adapter.
namespace fulmar::device {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 18;

/// Port 0 reaches a window of port 1, which never makes progress but to let quiet puts in.
class RemoteAccessTest : public ::testing::Test {
 protected:
  explicit RemoteAccessTest(const RemoteSchedule& schedule = {}) : window(window_bytes) {
    cluster.network.memory().turn_on();
    cluster.network.set_reach(false);
    region = *cluster.device(1).network()->open_memory(window, fabric::Access::peers_change);
    const RemoteTarget target{1, &pending, &error};
    access.emplace(cluster.device(0), std::span(&target, 1), schedule, counted);
  }
  ~RemoteAccessTest() override {
    access.reset();
    cluster.device(0).memory().close();
    cluster.device(1).network()->close_memory(region);
    EXPECT_EQ(cluster.network.memory().open_regions(), 0U);
    EXPECT_EQ(cluster.network.memory().counters().breaches, 0U);
  }

  [[nodiscard]] fabric::RemoteAddress at(std::size_t byte) const {
    return {region.name_of(window.data() + byte), region.rkey};
  }
  void put(std::size_t byte, std::span<const std::byte> bytes) { access->put(0, at(byte), bytes); }
  /// Only the origin polls.
  void complete() {
    cluster.network.memory().let_orders_go();
    for (int look = 0; pending != 0 && look < 1'000'000; ++look) cluster.device(0).progress();
    EXPECT_EQ(pending, 0U);
  }
  static std::vector<std::byte> pattern(std::size_t bytes, std::uint32_t seed) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = content(seed, i);
    return made;
  }
  [[nodiscard]] const RemoteCounters& counters() const { return counted; }

  Cluster cluster{2};
  std::vector<std::byte> window;
  fabric::MemoryRegion region;
  std::uint32_t pending = 0;
  base::ErrorClass error = base::ErrorClass::success;
  RemoteCounters counted;
  std::optional<RemoteAccess> access;
};

/// What a test wants to know of an operation.
struct Watched : RemoteOperation {
  int ends = 0;
  Watched() {
    ended = [](RemoteOperation& operation) noexcept { ++static_cast<Watched&>(operation).ends; };
  }
};

TEST_F(RemoteAccessTest, Put_and_get_move_short_data_without_the_target) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{8}, std::size_t{1000},
                                   std::size_t{RemoteAccess::most_copied_bytes}}) {
    const auto sent = pattern(length, 3);
    put(100, sent);
    complete();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), window.begin() + 100)) << length;
    std::vector<std::byte> back(length);
    access->get(0, at(100), back);
    complete();
    EXPECT_EQ(back, sent) << length;
  }
  EXPECT_EQ(error, base::ErrorClass::success);
}

TEST_F(RemoteAccessTest, Single_put_is_given_at_once) {
  cluster.network.memory().hold_orders();
  put(0, pattern(8, 1));
  EXPECT_EQ(counters().writes, 1U);
  complete();
}

TEST_F(RemoteAccessTest, Puts_that_continue_each_other_share_writes) {
  cluster.network.memory().hold_orders();
  const auto sent = pattern(20'000, 5);
  for (std::size_t i = 0; i < sent.size(); i += 8) put(i, std::span(sent).subspan(i, 8));
  complete();
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), window.begin()));
  EXPECT_EQ(counters().writes + counters().merged, sent.size() / 8);
  EXPECT_LE(counters().writes, 2 + sent.size() / BouncePool::block_bytes + 1);
}

TEST_F(RemoteAccessTest, Later_put_to_one_place_wins_where_puts_are_merged) {
  cluster.network.memory().hold_orders();
  const auto first = pattern(24, 1);
  put(0, std::span(first).first(8));
  put(8, std::span(first).subspan(8, 8));
  put(16, std::span(first).subspan(16, 8));
  complete();
  EXPECT_TRUE(std::equal(first.begin(), first.end(), window.begin()));
}

TEST_F(RemoteAccessTest, Put_that_continues_nothing_is_not_held_back) {
  cluster.network.memory().hold_orders();
  for (std::size_t i = 0; i < 10; ++i) put(i * 100, pattern(8, 1));
  EXPECT_EQ(counters().writes, 10U);
  complete();
}

class Unscheduled : public RemoteAccessTest {
 protected:
  Unscheduled() : RemoteAccessTest({.merges = false, .interleaves = false}) {}
};

TEST_F(Unscheduled, Each_put_is_a_write) {
  cluster.network.memory().hold_orders();
  const auto sent = pattern(400, 5);
  for (std::size_t i = 0; i < sent.size(); i += 8) put(i, std::span(sent).subspan(i, 8));
  complete();
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), window.begin()));
  EXPECT_EQ(counters().writes, sent.size() / 8);
  EXPECT_EQ(counters().merged, 0U);
}

/// How many of 20 reads are given while the first 10 orders are: behind 20 writes.
std::uint64_t reads_among_first(Cluster& cluster, RemoteAccess& access,
                                const RemoteCounters& counters,
                                const fabric::RemoteAddress& place) {
  cluster.network.memory().hold_orders();
  cluster.network.memory().set_room(10);
  std::vector<std::byte> bytes(8);
  std::vector<std::byte> to(8 * 20);
  cluster.network.set_reluctance(1);  // all wait at first
  for (std::size_t i = 0; i < 20; ++i) access.put(0, {place.address + 100 * i, place.key}, bytes);
  for (std::size_t i = 0; i < 20; ++i) {
    access.get(0, {place.address + 100 * i, place.key}, std::span(to).subspan(8 * i, 8));
  }
  cluster.network.set_reluctance(0);
  cluster.device(0).progress();
  const std::uint64_t reads = counters.reads;
  EXPECT_EQ(reads + counters.writes, 10U);
  cluster.network.memory().let_orders_go();
  while (access.under_way(0) != 0) cluster.device(0).progress();
  return reads;
}

TEST_F(RemoteAccessTest, Reads_and_writes_take_turns) {
  EXPECT_EQ(reads_among_first(cluster, *access, counted, at(0)), 5U);
}

TEST_F(Unscheduled, Reads_wait_for_the_writes_before_them) {
  EXPECT_EQ(reads_among_first(cluster, *access, counted, at(0)), 0U);
}

TEST_F(RemoteAccessTest, Long_operations_leave_no_memory_open) {
  for (const Layout layout : {Layout::dense, Layout::strided, Layout::runs}) {
    const std::size_t bytes = 3 * fabric::Fake::max_remote_bytes + 77;
    auto sent = cluster.make({}, bytes, layout, 7);
    Watched putting;
    putting.local = sent->operation.buffer;
    access->begin(putting, bytes);
    access->put(0, at(8), putting, 0, bytes / 2);
    access->put(0, at(8 + bytes / 2), putting, bytes / 2, bytes - bytes / 2);
    EXPECT_EQ(putting.ends, 0);
    access->finish(putting);
    complete();
    EXPECT_EQ(putting.ends, 1);
    EXPECT_EQ(sent->bytes(), std::vector(window.begin() + 8, window.begin() + 8 + bytes));

    auto received = cluster.make({}, bytes, layout, 9);
    Watched getting;
    getting.local = received->operation.buffer;
    access->begin(getting, bytes);
    access->get(0, at(8), getting, 0, bytes);
    access->finish(getting);
    complete();
    EXPECT_EQ(getting.ends, 1);
    EXPECT_TRUE(holds(*received, 7, bytes));
  }
}

TEST_F(RemoteAccessTest, Memory_that_cannot_be_opened_is_copied) {
  ASSERT_TRUE(access->probe().ok());
  cluster.network.memory().refuse_to_open(100);
  const std::size_t bytes = 50'000;
  auto sent = cluster.make({}, bytes, Layout::dense, 7);
  Watched putting;
  putting.local = sent->operation.buffer;
  access->begin(putting, bytes);
  access->put(0, at(0), putting, 0, bytes);
  access->finish(putting);
  complete();
  EXPECT_EQ(sent->bytes(), std::vector(window.begin(), window.begin() + bytes));
}

TEST_F(RemoteAccessTest, Changes_tell_what_was_there) {
  struct Note : RemoteChange {
    bool done = false;
    Note() {
      ended = [](RemoteChange& change) noexcept { static_cast<Note&>(change).done = true; };
    }
  };
  std::uint64_t value = 5;
  std::memcpy(window.data(), &value, sizeof value);
  BounceBlock& block = access->take_block();
  Note add;
  add.room = block.memory.first(8);
  add.lkey = block.lkey;
  add.value = 37;
  access->change(0, at(0), add);
  complete();
  EXPECT_TRUE(add.done);
  EXPECT_EQ(add.was, 5U);
  Note swap;
  swap.room = block.memory.subspan(8, 8);
  swap.lkey = block.lkey;
  swap.kind = RemoteChange::Kind::swap;
  swap.expected = 42;
  swap.value = 1;
  access->change(0, at(0), swap);
  complete();
  EXPECT_EQ(swap.was, 42U);
  std::memcpy(&value, window.data(), sizeof value);
  EXPECT_EQ(value, 1U);
  EXPECT_EQ(counters().changes, 2U);
  access->give_back(block);
}

TEST_F(RemoteAccessTest, Orders_for_a_process_that_dies_end_as_failed) {
  cluster.network.memory().hold_orders();
  cluster.network.memory().set_room(3);
  for (std::size_t i = 0; i < 20; ++i) put(100 * i, pattern(8, 1));
  auto sent = cluster.make({}, 50'000, Layout::dense, 7);
  Watched putting;
  putting.local = sent->operation.buffer;
  access->begin(putting, 50'000);
  access->put(0, at(0), putting, 0, 50'000);
  access->finish(putting);
  cluster.network.kill(1);
  complete();
  EXPECT_EQ(error, base::ErrorClass::proc_failed);
  EXPECT_EQ(putting.ends, 1);
  EXPECT_TRUE(putting.lost);
  put(0, pattern(8, 1));
  complete();
}

TEST_F(RemoteAccessTest, Random_puts_and_gets_over_a_network_that_refuses) {
  std::mt19937 random(4);
  cluster.network.set_reluctance(0.4);
  cluster.network.memory().set_room(3);
  std::vector<std::byte> model(window_bytes);
  for (int round = 0; round < 200; ++round) {
    // Disjoint places, so that nothing depends on the order.
    std::size_t place = 0;
    std::vector<std::vector<std::byte>> sources;
    while (place < window_bytes) {
      const std::size_t gap = random() % 3 == 0 ? random() % 5000 : 0;
      const std::size_t length = 1 + random() % (random() % 8 == 0 ? 8192 : 64);
      place += gap;
      if (place + length > window_bytes || sources.size() == 100) break;
      sources.push_back(pattern(length, static_cast<std::uint32_t>(random())));
      put(place, sources.back());
      std::copy(sources.back().begin(), sources.back().end(),
                model.begin() + static_cast<std::ptrdiff_t>(place));
      place += length;
      if (random() % 16 == 0) cluster.device(0).progress();
    }
    complete();
  }
  EXPECT_EQ(window, model);
}

}  // namespace
}  // namespace fulmar::device
