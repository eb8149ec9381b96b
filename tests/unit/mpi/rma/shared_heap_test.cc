// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/shared_heap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "mpi/rma/node/peer_heap.h"

namespace fulmar::mpi {
namespace {

using Freed = SharedHeap::Freed;
constexpr std::size_t line = 64;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

std::uint64_t address_of(const void* block) { return reinterpret_cast<std::uint64_t>(block); }

/// As another rank of the node would open it.
std::unique_ptr<PeerHeap> peer_of(const SharedHeap& heap) { return PeerHeap::open(heap.name()); }

class Heap : public ::testing::Test {
 protected:
  void SetUp() override {
    if (heap == nullptr) GTEST_SKIP() << "this system gives no shared heap";
  }
  std::byte* allocate(std::size_t bytes, std::size_t alignment = line) {
    return static_cast<std::byte*>(heap->allocate(bytes, alignment));
  }
  /// What a peer reads there; -1: it is not mapped.
  static int read(PeerHeap& peer, const std::byte* block) {
    const auto mapping = peer.find(address_of(block), 1);
    return mapping == nullptr ? -1 : std::to_integer<int>(*mapping->find(address_of(block), 1));
  }

  std::unique_ptr<SharedHeap> heap = SharedHeap::open();
};

TEST_F(Heap, Blocks_of_all_lengths_do_not_overlap_and_are_aligned) {
  std::vector<std::pair<std::byte*, std::size_t>> blocks;
  for (const std::size_t bytes : {1UL, 64UL, 65UL, 512UL, 513UL, 1000UL, 1025UL, 40000UL, 65536UL,
                                  65537UL, 1UL << 20, 3UL << 20}) {
    for (const std::size_t alignment : {64UL, 128UL, 4096UL, 65536UL, 1UL << 20}) {
      std::byte* const block = allocate(bytes, alignment);
      ASSERT_NE(block, nullptr) << bytes;
      EXPECT_EQ(address_of(block) % alignment, 0U) << bytes;
      std::memset(block, static_cast<int>(blocks.size()), bytes);
      blocks.emplace_back(block, bytes);
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [block, bytes] = blocks[i];
    EXPECT_EQ(block[0], static_cast<std::byte>(i));
    EXPECT_EQ(block[bytes - 1], static_cast<std::byte>(i));
    EXPECT_EQ(heap->free(block), Freed::yes);
  }
}

TEST_F(Heap, Freed_blocks_are_used_again) {
  for (const std::size_t bytes : {100UL, 200'000UL}) {
    std::byte* const first = allocate(bytes);
    EXPECT_EQ(heap->free(first), Freed::yes);
    EXPECT_EQ(allocate(bytes), first);
  }
}

TEST_F(Heap, Only_live_blocks_can_be_freed) {
  for (const std::size_t bytes : {100UL, 200'000UL}) {
    std::byte* const block = allocate(bytes);
    EXPECT_EQ(heap->free(block + line), Freed::bad) << "inside a block";
    EXPECT_EQ(heap->free(block), Freed::yes);
    EXPECT_EQ(heap->free(block), Freed::bad) << "twice";
  }
  int local = 0;
  EXPECT_EQ(heap->free(&local), Freed::not_here);
}

TEST_F(Heap, A_block_in_use_is_never_given_twice) {
  std::set<std::byte*> live;
  for (int i = 0; i < 50'000; ++i) {
    std::byte* const block = allocate(64);
    ASSERT_TRUE(live.insert(block).second);
  }
}

TEST_F(Heap, More_than_the_machine_has_is_refused) {
  EXPECT_EQ(allocate(std::size_t{1} << 50), nullptr);
  EXPECT_EQ(allocate(std::size_t{1} << 60), nullptr);
}

TEST_F(Heap, Peers_map_what_is_allocated) {
  const auto peer = peer_of(*heap);
  ASSERT_NE(peer, nullptr);
  for (const std::size_t bytes : {100UL, 200'000UL, 5UL << 20}) {
    std::byte* const block = allocate(bytes);
    block[bytes - 1] = std::byte{42};
    const auto mapping = peer->find(address_of(block), bytes);
    ASSERT_NE(mapping, nullptr);
    std::byte* const there = mapping->find(address_of(block), bytes);
    ASSERT_NE(there, nullptr);
    EXPECT_NE(there, block);
    EXPECT_EQ(there[bytes - 1], std::byte{42});
    there[0] = std::byte{43};
    EXPECT_EQ(block[0], std::byte{43});
    EXPECT_EQ(peer->find(address_of(block), bytes), mapping) << "mapped once";
  }
}

TEST_F(Heap, What_is_made_private_stays_and_peers_see_no_more_of_it) {
  std::byte* const small = allocate(100);
  std::byte* const large = allocate(3 * mebibyte);
  std::byte* const freed = allocate(5 * mebibyte);
  small[99] = std::byte{1};
  large[3 * mebibyte - 1] = std::byte{2};
  EXPECT_EQ(heap->free(freed), Freed::yes);
  const auto peer = peer_of(*heap);
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(read(*peer, small + 99), 1);
  heap->make_private();
  EXPECT_EQ(heap->name(), 0U);
  EXPECT_EQ(small[99], std::byte{1});
  EXPECT_EQ(large[3 * mebibyte - 1], std::byte{2});
  small[99] = std::byte{7};
  EXPECT_EQ(read(*peer, small + 99), 1) << "the file that the peer still has";
  EXPECT_EQ(allocate(7 * mebibyte), nullptr) << "no file, no more regions";
  EXPECT_NE(allocate(100), nullptr) << "but the slab has room";
  heap->make_private();
  EXPECT_EQ(heap->free(small), Freed::yes);
  EXPECT_EQ(heap->free(large), Freed::yes);
}

TEST_F(Heap, Peers_find_no_other_memory) {
  const auto peer = peer_of(*heap);
  ASSERT_NE(peer, nullptr);
  std::byte* const block = allocate(mebibyte);
  int local = 0;
  EXPECT_EQ(peer->find(address_of(&local), 4), nullptr);
  EXPECT_EQ(peer->find(address_of(block), mebibyte + 1), nullptr) << "over the end";
  EXPECT_EQ(peer->find(address_of(block) - 1, 2), nullptr) << "before the beginning";
  EXPECT_EQ(peer->find(address_of(block) + 1, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(peer->find(~std::uint64_t{0}, 1), nullptr);
}

TEST_F(Heap, What_a_peer_still_maps_after_it_was_freed_is_no_block_of_others) {
  const auto peer = peer_of(*heap);
  ASSERT_NE(peer, nullptr);
  const std::size_t bytes = SharedHeap::most_kept_bytes + mebibyte;  // is not kept
  std::byte* const old = allocate(bytes);
  const auto mapping = peer->find(address_of(old), bytes);
  ASSERT_NE(mapping, nullptr);
  std::byte* const stale = mapping->find(address_of(old), bytes);
  EXPECT_EQ(heap->free(old), Freed::yes);
  std::byte* const fresh = allocate(bytes);
  std::memset(fresh, 1, 4096);
  std::memset(stale, 2, 4096);
  EXPECT_EQ(fresh[0], std::byte{1});
  EXPECT_EQ(read(*peer, fresh), 1) << "the same address is found where it lies now";
}

TEST_F(Heap, Regions_that_end_leave_the_table_whole) {
  const auto peer = peer_of(*heap);
  ASSERT_NE(peer, nullptr);
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < 2 * SharedHeap::most_kept_regions; ++i) {
    blocks.push_back(allocate(100'000 + i * 4096));
    blocks.back()[0] = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_EQ(heap->free(blocks[i]), Freed::yes);
  for (std::size_t i = 1; i < blocks.size(); i += 2) {
    EXPECT_EQ(read(*peer, blocks[i]), static_cast<int>(i));
  }
}

TEST_F(Heap, Peers_take_no_other_file_for_a_heap) {
  const auto mine = static_cast<int>(wire::RmaHeapName::from(heap->name()).descriptor);
  const auto dup = [&] { return base::UniqueFd(::fcntl(mine, F_DUPFD_CLOEXEC, 0)); };
  EXPECT_EQ(PeerHeap::open(base::UniqueFd(), heap->name()), nullptr);
  EXPECT_EQ(PeerHeap::open(dup(), heap->name() ^ (1UL << 60)), nullptr) << "another key";
  base::UniqueFd empty(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(PeerHeap::open(std::move(empty), heap->name()), nullptr) << "too short";
  base::UniqueFd unsealed(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 1 << 20), 0);
  EXPECT_EQ(PeerHeap::open(std::move(unsealed), 0), nullptr) << "could shrink";
}

TEST_F(Heap, Peers_map_nothing_outside_of_the_file) {
  base::UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::uint64_t bytes = wire::rma_heap_table_bytes + 8192;
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  void* memory = ::mmap(nullptr, wire::rma_heap_table_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        file.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& table = *static_cast<wire::RmaHeapTable*>(memory);
  table.name = 77;
  table.count = 1;
  const auto peer = PeerHeap::open(std::move(file), 77);
  ASSERT_NE(peer, nullptr);
  const auto says = [&](std::uint64_t offset, std::uint64_t length) {
    table.regions()[0].address = 1 << 20;
    table.regions()[0].offset = offset;
    table.regions()[0].bytes = length;
    return peer->find(1 << 20, 1) != nullptr;
  };
  constexpr std::uint64_t page = 4096;
  EXPECT_FALSE(says(bytes, page)) << "behind the end";
  EXPECT_FALSE(says(bytes - page, 2 * page)) << "over the end";
  EXPECT_FALSE(says(~std::uint64_t{0} - page + 1, page));
  EXPECT_FALSE(says(wire::rma_heap_table_bytes + 1, page)) << "no page begins there";
  EXPECT_FALSE(says(0, page)) << "the table itself";
  table.version = 1;
  EXPECT_FALSE(says(bytes - page, page)) << "the table is changing";
  table.version = 2;
  table.count = ~0U;
  EXPECT_TRUE(says(bytes - page, page));
  (void)::munmap(memory, wire::rma_heap_table_bytes);
}

}  // namespace
}  // namespace fulmar::mpi
