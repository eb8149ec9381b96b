// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "rwapi/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <random>

#include "rwapi/rwapi.h"
#include "wire/packets.h"

namespace fulmar::rwapi {
namespace {

/// A port that can do nothing but seal.
class SealingPort final : public interfaces::Port {
 public:
  [[nodiscard]] std::uint32_t rank() const noexcept override { return 3; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return 4; }
  [[nodiscard]] bool on_node(std::uint32_t) const noexcept override { return true; }
  [[nodiscard]] bool lost(std::uint32_t) const noexcept override { return false; }
  void start() noexcept override {}
  void lock() noexcept override {}
  void unlock() noexcept override {}
  [[nodiscard]] bool send(std::uint32_t, std::uint8_t, std::span<const std::byte>,
                          std::span<const std::byte>,
                          interfaces::SendCompletion*) noexcept override {
    return false;
  }
  void release() noexcept override {}
  [[nodiscard]] std::uint32_t undelivered(std::uint32_t) const noexcept override { return 0; }
  void progress() noexcept override {}
  [[nodiscard]] bool wait(bool (*)(void*) noexcept, void*, std::int64_t) noexcept override {
    return false;
  }
  void notify() noexcept override {}
  void barrier() noexcept override {}
  void flush() noexcept override {}
  [[nodiscard]] interfaces::Segment* make_segment(std::size_t, const char**) noexcept override {
    return nullptr;
  }
  void release_segment(interfaces::Segment*) noexcept override {}
  [[nodiscard]] bool share(interfaces::Segment*, std::uint32_t, std::uint64_t) noexcept override {
    return false;
  }
  [[nodiscard]] std::uint64_t seal(std::uint32_t owner,
                                   std::span<const std::byte> bytes) const noexcept override {
    std::uint64_t value = 0x9e3779b97f4a7c15 + owner;
    for (const std::byte byte : bytes) {
      value = (std::rotl(value, 5) ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    }
    return value;
  }
  void own(std::span<std::byte> block) noexcept override { owned += block.size(); }
  void disown(std::span<std::byte> block) noexcept override { owned -= block.size(); }
  void close(Leaving) noexcept override {}

  std::size_t owned = 0;
};

class ArenaTest : public ::testing::Test {
 protected:
  static constexpr std::size_t room = std::size_t{1} << 20;
  static constexpr std::uint32_t queues = 2;
  ArenaTest() {
    segment.bytes = wire::rwapi_front_bytes(queues) + room;
    void* const memory =
        ::mmap(nullptr, segment.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    segment.base = static_cast<std::byte*>(memory);
    arena = std::make_unique<Arena>(port, segment, queues);
  }
  ~ArenaTest() override {
    arena.reset();
    EXPECT_EQ(port.owned, 0U);
    (void)::munmap(segment.base, segment.bytes);
  }
  static wire::RwapiWrite address_of(const Arena::Allocated& block, std::uint64_t offset = 0) {
    return {0, offset, block.block, block.generation, block.seal};
  }

  SealingPort port;
  interfaces::Segment segment;
  std::unique_ptr<Arena> arena;
};

TEST_F(ArenaTest, Owner_and_neighbour_agree_on_every_address) {
  const auto block = arena->allocate(1000);
  ASSERT_TRUE(block);
  const auto remote = RemoteArena::of(segment);
  ASSERT_TRUE(remote);
  const auto check = [&](const wire::RwapiWrite& address, std::uint64_t bytes, int expected) {
    EXPECT_EQ(arena->find(address, bytes).error, expected);
    EXPECT_EQ(remote->find(port, 3, address, bytes).error, expected);
  };
  check(address_of(*block), 1000, RWAPI_OK);
  check(address_of(*block, 1000), 0, RWAPI_OK);
  check(address_of(*block, 999), 2, RWAPI_ERR_RANGE);
  check(address_of(*block, UINT64_MAX), 2, RWAPI_ERR_RANGE);
  auto forged = address_of(*block);
  forged.seal ^= 1;
  check(forged, 1, RWAPI_ERR_ADDRESS);
  forged = address_of(*block);
  forged.generation = 0;
  check(forged, 1, RWAPI_ERR_ADDRESS);
  forged.block = wire::rwapi_blocks;
  check(forged, 1, RWAPI_ERR_ADDRESS);
  EXPECT_EQ(remote->find(port, 2, address_of(*block), 1).error, RWAPI_ERR_ADDRESS)
      << "an address of another node";
  EXPECT_EQ(remote->find(port, 3, address_of(*block, 8), 1).address, block->address + 8);
}

TEST_F(ArenaTest, A_freed_block_is_refused_at_once_and_used_again_when_nobody_uses_it) {
  const auto block = arena->allocate(room / 4 * 3);
  ASSERT_TRUE(block);
  std::memset(block->address, 7, room / 4 * 3);
  arena->begin_use(block->block);
  EXPECT_TRUE(arena->free(block->address));
  EXPECT_FALSE(arena->free(block->address));
  EXPECT_EQ(arena->find(address_of(*block), 1).error, RWAPI_ERR_ADDRESS);
  EXPECT_FALSE(arena->allocate(room / 2)) << "its memory is in use";
  arena->end_use(block->block);
  const auto next = arena->allocate(room / 2);
  ASSERT_TRUE(next);
  for (std::size_t i = 0; i < room / 2; ++i) ASSERT_EQ(next->address[i], std::byte{0}) << i;
}

TEST_F(ArenaTest, A_block_that_a_neighbour_writes_to_is_not_used_again) {
  auto neighbour = std::make_unique<wire::RwapiArena>();
  arena->add_neighbour(*neighbour);
  const auto block = arena->allocate(room / 4 * 3);
  ASSERT_TRUE(block);
  neighbour->target = wire::rwapi_target(3, block->block);
  EXPECT_TRUE(arena->free(block->address));
  EXPECT_FALSE(arena->allocate(room / 2));
  neighbour->target = 0;
  EXPECT_TRUE(arena->allocate(room / 2));
  arena->remove_neighbour(*neighbour);
}

TEST_F(ArenaTest, A_table_that_names_bytes_outside_of_the_arena_is_not_followed) {
  const auto block = arena->allocate(64);
  ASSERT_TRUE(block);
  auto& shared = *reinterpret_cast<wire::RwapiArena*>(segment.base);
  shared.blocks[block->block].bytes = UINT64_MAX;
  const wire::RwapiSealed sealed{block->block, block->generation, shared.blocks[block->block].begin,
                                 UINT64_MAX};
  auto address = address_of(*block);
  address.seal = port.seal(3, wire::bytes_of(sealed));
  EXPECT_EQ(RemoteArena::of(segment)->find(port, 3, address, 1).error, RWAPI_ERR_ADDRESS);
  const std::uint32_t more_than_there_is = (1 << 20) / sizeof(wire::RwapiSmallQueue) + queues + 1;
  for (const std::uint32_t count : {more_than_there_is, UINT32_MAX}) {
    shared.queues = count;
    EXPECT_FALSE(RemoteArena::of(segment));
  }
  shared.queues = queues;
  ASSERT_TRUE(RemoteArena::of(segment));
  EXPECT_EQ(RemoteArena::of(segment)->queue(1), &arena->queue(1));
  EXPECT_EQ(RemoteArena::of(segment)->queue(queues), nullptr);
  shared.magic = 0;
  EXPECT_FALSE(RemoteArena::of(segment));
}

TEST(FreeRanges, Everything_comes_back_as_one_run) {
  FreeRanges ranges(64, 1 << 16);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (int step = 0; step < 5000; ++step) {
    if (random() % 2 == 0) {
      const std::uint64_t bytes = 64 * (1 + random() % 20);
      const auto begin = ranges.take(bytes);
      if (!begin) continue;
      for (const auto& [other, length] : taken) {
        ASSERT_TRUE(*begin + bytes <= other || other + length <= *begin);
      }
      taken.emplace_back(*begin, bytes);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      ranges.give_back(taken.back().first, taken.back().second);
      taken.pop_back();
    }
  }
  for (const auto& [begin, bytes] : taken) ranges.give_back(begin, bytes);
  EXPECT_EQ(ranges.runs(), 1U);
  EXPECT_EQ(ranges.take(1 << 16), 64U);
}

}  // namespace
}  // namespace fulmar::rwapi
