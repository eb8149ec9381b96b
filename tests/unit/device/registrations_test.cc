// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/regcache/registrations.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

/// The cache over an adapter that remembers what is open.
namespace fulmar::device {
namespace {

using base::AddressRange;
using base::MemoryWatch;
using base::range_of;
using fabric::Access;

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

class Adapter final : public Registrar {
 public:
  struct Region {
    AddressRange range;
    Access access;
  };
  ~Adapter() override { EXPECT_TRUE(regions.empty()) << "not closed"; }

  base::Result<fabric::MemoryRegion> open(std::span<std::byte> memory, Access access) override {
    ++attempts;
    if (regions.size() >= room || memory.size() > largest) {
      return base::failure(why, "no room");
    }
    const std::uint64_t handle = next_++;
    regions[handle] = {range_of(memory), access};
    return fabric::MemoryRegion{handle, static_cast<std::uint32_t>(handle),
                                static_cast<std::uint32_t>(handle)};
  }
  void close(const fabric::MemoryRegion& opened) override {
    EXPECT_EQ(regions.erase(opened.handle), 1U);
  }
  [[nodiscard]] const Region& region(const Registration& of) const {
    return regions.at(of.opened().handle);
  }

  std::map<std::uint64_t, Region> regions;
  std::size_t room = 1000;
  std::size_t largest = std::numeric_limits<std::size_t>::max();
  base::ErrorClass why = base::ErrorClass::no_mem;  ///< memory cannot be opened
  int attempts = 0;

 private:
  std::uint64_t next_ = 1;
};

/// 64 pages, mapped for themselves; never given back, as tests unmap some, and others may be there
/// then.
class Block {
 public:
  static constexpr std::size_t count = 64;
  Block()
      : memory_(static_cast<std::byte*>(::mmap(nullptr, count * page, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  [[nodiscard]] std::span<std::byte> pages(std::size_t first, std::size_t number) const {
    return {memory_ + first * page, number * page};
  }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t first, std::size_t number) const {
    return {memory_ + first, number};
  }
  [[nodiscard]] std::span<std::byte> all() const { return {memory_, count * page}; }
  [[nodiscard]] std::byte* begin() const { return memory_; }

 private:
  std::byte* memory_;
};

/// MPI owns a block that is larger than the budget, so that parts of it are opened as they are
/// asked for, and kept.
class RegistrationsTest : public testing::Test {
 protected:
  RegistrationsTest() { cache_.own(block_.all()); }

  Registration& take(std::span<std::byte> memory, Access access = Access::peers_read) {
    auto taken = cache_.take(memory, access);
    EXPECT_TRUE(taken.ok()) << taken.error().text();
    EXPECT_TRUE((*taken)->range().contains(range_of(memory)));
    EXPECT_EQ(adapter_.region(**taken).range, (*taken)->range());
    return **taken;
  }
  void use(std::span<std::byte> memory, Access access = Access::peers_read) {
    cache_.give_back(take(memory, access));
  }
  [[nodiscard]] bool is_hit(std::span<std::byte> memory, Access access = Access::peers_read) {
    const auto before = cache_.figures().hits;
    use(memory, access);
    return cache_.figures().hits != before;
  }

  Block block_;
  Adapter adapter_;
  Registrations cache_{adapter_, nullptr, {.bytes = 16 * page, .regions = 8}};
};

TEST_F(RegistrationsTest, what_is_kept_can_be_asked_for_alone) {
  EXPECT_EQ(cache_.take_kept(block_.pages(4, 4), Access::peers_read), nullptr);
  EXPECT_EQ(adapter_.attempts, 0);
  use(block_.pages(4, 4));
  Registration* const kept = cache_.take_kept(block_.pages(5, 1), Access::peers_read);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(cache_.take_kept(block_.pages(5, 1), Access::peers_write), nullptr);
  cache_.give_back(*kept);
  EXPECT_EQ(cache_.figures().hits, 1U);
  EXPECT_EQ(adapter_.attempts, 1);
}

TEST_F(RegistrationsTest, smaller_budget_closes_the_longest_unused) {
  use(block_.pages(0, 4));
  Registration& held = take(block_.pages(10, 4));
  use(block_.pages(20, 4));
  cache_.set_budget({.bytes = 9 * page, .regions = 8});
  EXPECT_EQ(cache_.figures().evicted, 1U);
  EXPECT_FALSE(is_hit(block_.pages(0, 1)));
  cache_.set_budget({.bytes = 0, .regions = 8});
  EXPECT_EQ(adapter_.regions.size(), 1U);
  cache_.give_back(held);
}

TEST_F(RegistrationsTest, the_same_memory_and_every_part_of_it_is_opened_once) {
  Registration& first = take(block_.pages(4, 4));
  EXPECT_EQ(&take(block_.pages(4, 4)), &first);
  EXPECT_EQ(&take(block_.pages(5, 1)), &first);
  EXPECT_EQ(&take(block_.bytes(8 * page - 1, 1)), &first);
  for (int i = 0; i < 4; ++i) cache_.give_back(first);
  EXPECT_TRUE(is_hit(block_.pages(4, 4)));
  EXPECT_EQ(cache_.figures().opened, 1U);
  EXPECT_EQ(cache_.figures().hits, 4U);
  EXPECT_FALSE(is_hit(block_.pages(3, 2)));
  EXPECT_FALSE(is_hit(block_.pages(7, 2)));
}

TEST_F(RegistrationsTest, regions_may_overlap) {
  Registration& low = take(block_.pages(0, 4));
  Registration& high = take(block_.pages(2, 4));
  EXPECT_NE(&low, &high);
  EXPECT_EQ(&take(block_.pages(2, 2)), &high);
  EXPECT_EQ(&take(block_.pages(1, 2)), &low);
  cache_.give_back(low);
  cache_.give_back(high);
  cache_.give_back(low);
  cache_.give_back(high);
  EXPECT_EQ(adapter_.regions.size(), 2U);
}

TEST_F(RegistrationsTest, what_lies_inside_a_new_region_is_closed) {
  use(block_.pages(1, 1));
  Registration& used = take(block_.pages(2, 1));
  use(block_.pages(3, 2));
  use(block_.pages(0, 4));
  EXPECT_EQ(adapter_.regions.size(), 3U);
  EXPECT_TRUE(is_hit(block_.pages(2, 1)));
  cache_.give_back(used);
  EXPECT_EQ(adapter_.regions.size(), 2U);
  EXPECT_TRUE(is_hit(block_.pages(3, 2)));
}

TEST_F(RegistrationsTest, peers_get_the_bytes_that_were_asked_for_and_no_more) {
  Registration& bytes = take(block_.bytes(100, 5000), Access::peers_write);
  EXPECT_EQ(adapter_.region(bytes).range, range_of(block_.bytes(100, 5000)));
  EXPECT_EQ(adapter_.region(bytes).access, Access::peers_write);
  cache_.give_back(bytes);
  EXPECT_FALSE(is_hit(block_.bytes(99, 5000), Access::peers_write));
}

TEST_F(RegistrationsTest, each_access_is_opened_for_itself_and_serves_the_own_orders) {
  use(block_.pages(0, 2), Access::local);
  EXPECT_FALSE(is_hit(block_.pages(0, 2), Access::peers_read));
  EXPECT_EQ(adapter_.regions.size(), 2U);
  EXPECT_TRUE(is_hit(block_.pages(0, 2), Access::local));
  EXPECT_FALSE(is_hit(block_.pages(0, 2), Access::peers_write));
  EXPECT_EQ(adapter_.regions.size(), 2U);  // the local one is not needed any more
  EXPECT_TRUE(is_hit(block_.pages(0, 2), Access::local));
  EXPECT_TRUE(is_hit(block_.pages(0, 2), Access::peers_read));
  EXPECT_TRUE(is_hit(block_.pages(1, 1), Access::peers_write));
  use(block_.pages(8, 2), Access::peers_write);
  EXPECT_TRUE(is_hit(block_.pages(8, 1), Access::local));
}

/// Memory that peers may read is open for reading alone: a fetch into it would fail.
TEST_F(RegistrationsTest, what_peers_read_does_not_serve_own_orders) {
  use(block_.pages(0, 2), Access::peers_read);
  Registration& local = take(block_.pages(0, 2), Access::local);
  EXPECT_EQ(adapter_.region(local).access, Access::local);
  cache_.give_back(local);
}

TEST_F(RegistrationsTest, a_local_region_in_use_stays_beside_its_successor) {
  Registration& local = take(block_.pages(0, 2), Access::local);
  use(block_.pages(0, 2), Access::peers_write);
  EXPECT_EQ(&take(block_.pages(0, 1), Access::local), &local);
  cache_.give_back(local);
  cache_.give_back(local);
}

TEST_F(RegistrationsTest, the_longest_unused_goes_first) {
  for (std::size_t i = 0; i < 4; ++i) use(block_.pages(i * 4, 4));
  EXPECT_TRUE(is_hit(block_.pages(0, 4)));
  EXPECT_FALSE(is_hit(block_.pages(16, 4)));
  EXPECT_EQ(cache_.figures().evicted, 1U);
  EXPECT_TRUE(is_hit(block_.pages(0, 4)));
  EXPECT_TRUE(is_hit(block_.pages(8, 4)));
  EXPECT_FALSE(is_hit(block_.pages(4, 4)));
  EXPECT_EQ(cache_.figures().bytes, 16 * page);
}

TEST_F(RegistrationsTest, no_more_regions_are_kept_than_the_budget_says) {
  for (std::size_t i = 0; i < 20; ++i) use(block_.bytes(i * page, 8));
  EXPECT_EQ(adapter_.regions.size(), 8U);
  EXPECT_EQ(cache_.figures().regions, 8U);
  EXPECT_EQ(cache_.figures().evicted, 12U);
  EXPECT_FALSE(is_hit(block_.bytes(11 * page, 8)));
  EXPECT_TRUE(is_hit(block_.bytes(19 * page, 8)));
}

TEST_F(RegistrationsTest, memory_that_no_adapter_can_use_drives_nothing_out) {
  use(block_.pages(0, 4));
  adapter_.largest = 8 * page;
  adapter_.why = base::ErrorClass::other;
  EXPECT_TRUE(cache_.take(block_.pages(4, 9), Access::local).failed());
  EXPECT_EQ(adapter_.attempts, 2);
  EXPECT_EQ(cache_.figures().evicted, 0U);
  EXPECT_TRUE(is_hit(block_.pages(0, 4)));
}

TEST_F(RegistrationsTest, what_is_taken_beyond_the_budget_is_not_kept_and_drives_nothing_out) {
  use(block_.pages(0, 4));
  Registration& large = take(block_.pages(4, 10));
  Registration& beyond = take(block_.pages(20, 8));
  EXPECT_EQ(adapter_.regions.size(), 3U);
  cache_.give_back(beyond);
  EXPECT_EQ(adapter_.regions.size(), 2U);
  use(block_.pages(20, 17));
  EXPECT_EQ(adapter_.regions.size(), 2U);
  EXPECT_EQ(cache_.figures().not_kept, 2U);
  cache_.give_back(large);
  EXPECT_TRUE(is_hit(block_.pages(0, 4)));
  EXPECT_TRUE(is_hit(block_.pages(4, 10)));
}

TEST_F(RegistrationsTest, a_registrar_without_room_gets_some) {
  for (std::size_t i = 0; i < 6; ++i) use(block_.pages(i, 1));
  adapter_.room = 3;
  EXPECT_FALSE(is_hit(block_.pages(40, 1)));
  EXPECT_LE(adapter_.regions.size(), 3U);
  EXPECT_TRUE(is_hit(block_.pages(40, 1)));
}

TEST_F(RegistrationsTest, a_registrar_that_always_fails_is_asked_a_few_times) {
  for (std::size_t i = 0; i < 8; ++i) use(block_.pages(i, 1));
  Registration& used = take(block_.pages(0, 1));
  adapter_.room = 0;
  adapter_.attempts = 0;
  const auto failed = cache_.take(block_.pages(40, 1), Access::peers_read);
  EXPECT_EQ(failed.error().error_class(), base::ErrorClass::no_mem);
  EXPECT_LE(adapter_.attempts, 5);
  EXPECT_EQ(adapter_.regions.size(), 1U);
  cache_.give_back(used);
  EXPECT_TRUE(is_hit(block_.pages(0, 1)));
}

TEST_F(RegistrationsTest, a_block_of_mpi_is_opened_as_a_whole) {
  const Block other;
  const auto block = other.bytes(24, 6 * page);
  cache_.own(block);
  Registration& part = take(other.bytes(page, 10), Access::peers_write);
  EXPECT_EQ(adapter_.region(part).range, range_of(block));
  EXPECT_TRUE(is_hit(other.bytes(24, 6 * page), Access::peers_write));
  cache_.give_back(part);
  cache_.disown(block.data());
  EXPECT_TRUE(adapter_.regions.empty());
}

TEST_F(RegistrationsTest, a_block_too_large_for_the_adapter_is_opened_in_part) {
  const Block other;
  cache_.own(other.pages(0, 8));
  adapter_.largest = 2 * page;
  Registration& part = take(other.pages(1, 2));
  EXPECT_EQ(adapter_.region(part).range, range_of(other.pages(1, 2)));
  cache_.give_back(part);
  cache_.disown(other.begin());
}

TEST_F(RegistrationsTest, memory_that_nobody_answers_for_is_opened_for_each_transfer) {
  const Block other;
  use(other.pages(0, 1));
  EXPECT_TRUE(adapter_.regions.empty());
  EXPECT_FALSE(is_hit(other.pages(0, 1)));
  EXPECT_EQ(cache_.figures().not_kept, 2U);
}

TEST_F(RegistrationsTest, a_block_that_is_freed_is_closed) {
  use(block_.pages(0, 2), Access::local);
  use(block_.pages(2, 2), Access::peers_read);
  use(block_.pages(3, 3), Access::peers_write);
  Registration& used = take(block_.pages(8, 1));
  cache_.disown(block_.begin());
  EXPECT_EQ(adapter_.regions.size(), 1U);
  cache_.give_back(used);
  EXPECT_TRUE(adapter_.regions.empty());
  cache_.disown(block_.begin());
  EXPECT_FALSE(is_hit(block_.pages(2, 2)));
}

TEST_F(RegistrationsTest, what_was_not_given_back_is_closed_at_the_end) {
  take(block_.pages(0, 2));
  use(block_.pages(4, 2));
}

/// Any order of calls: what is taken is open, holds what was asked for and may be used for it; what
/// is kept obeys the budget.
TEST_F(RegistrationsTest, any_order_of_calls_keeps_the_promises) {
  std::mt19937 random(3);
  std::vector<Registration*> taken;
  for (int step = 0; step < 30000; ++step) {
    adapter_.room = random() % 50 == 0 ? 5 : 1000;
    if (taken.size() < 6 && random() % 2 == 0) {
      const std::size_t first = random() % (32 * page);
      const auto memory = block_.bytes(first, 1 + random() % (6 * page));
      const auto access = static_cast<Access>(random() % 3);
      auto answer = cache_.take(memory, access);
      if (answer.failed()) continue;
      Registration* const registration = *answer;
      ASSERT_TRUE(registration->range().contains(range_of(memory)));
      const Adapter::Region& region = adapter_.region(*registration);
      ASSERT_EQ(region.range, registration->range());
      ASSERT_TRUE(region.access == access ||
                  (access == Access::local && region.access == Access::peers_write));
      taken.push_back(registration);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      cache_.give_back(*taken.back());
      taken.pop_back();
    }
    if (random() % 300 == 0) {
      cache_.disown(block_.begin());
      cache_.own(block_.all());
    }
    for (const Registration* each : taken) ASSERT_EQ(adapter_.region(*each).range, each->range());
    ASSERT_EQ(adapter_.regions.size(), cache_.figures().regions);
    if (taken.empty()) {
      ASSERT_LE(cache_.figures().bytes, 16 * page);
      ASSERT_LE(cache_.figures().regions, 8U);
    }
  }
  for (Registration* each : taken) cache_.give_back(*each);
  cache_.disown(block_.begin());
  EXPECT_EQ(cache_.figures().bytes, 0U);
  EXPECT_TRUE(adapter_.regions.empty());
}

/// Memory of the program, watched.
class WatchedRegistrations : public RegistrationsTest {
 protected:
  void SetUp() override {
    const base::Error error = watch_.watch(range_of(memory_.pages(63, 1)));
    if (error.failed()) GTEST_SKIP() << error.text();
  }
  Registration& take_watched(std::span<std::byte> memory, Access access = Access::peers_read) {
    return **watched_.take(memory, access);
  }
  [[nodiscard]] bool is_kept(std::span<std::byte> memory, Access access = Access::peers_read) {
    const auto before = watched_.figures().hits;
    watched_.give_back(take_watched(memory, access));
    return watched_.figures().hits != before;
  }

  Block memory_;
  MemoryWatch watch_;
  Registrations watched_{adapter_, &watch_, {.bytes = 48 * page, .regions = 20}};
};

TEST_F(WatchedRegistrations, memory_of_the_program_is_kept_until_it_changes) {
  EXPECT_FALSE(is_kept(memory_.pages(0, 4)));
  EXPECT_FALSE(is_kept(memory_.pages(8, 4)));
  EXPECT_TRUE(is_kept(memory_.pages(0, 4)));
  ::munmap(memory_.pages(3, 1).data(), page);
  EXPECT_FALSE(is_kept(memory_.pages(0, 3)));
  EXPECT_TRUE(is_kept(memory_.pages(8, 4)));
  ::madvise(memory_.pages(8, 1).data(), page, MADV_DONTNEED);
  EXPECT_FALSE(is_kept(memory_.pages(9, 3)));
  EXPECT_EQ(watched_.figures().unlisted, 2U);
}

TEST_F(WatchedRegistrations, own_orders_get_whole_pages) {
  Registration& taken = take_watched(memory_.bytes(100, page), Access::local);
  EXPECT_EQ(taken.range(), range_of(memory_.pages(0, 2)));
  watched_.give_back(taken);
  EXPECT_TRUE(is_kept(memory_.bytes(0, 2 * page), Access::local));
}

TEST_F(WatchedRegistrations, memory_that_changes_in_use_is_closed_when_it_is_given_back) {
  Registration& taken = take_watched(memory_.pages(0, 2));
  ::mmap(memory_.pages(0, 1).data(), page, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  Registration& anew = take_watched(memory_.pages(0, 2));
  EXPECT_NE(&anew, &taken);
  EXPECT_EQ(adapter_.regions.size(), 2U);
  watched_.give_back(taken);
  EXPECT_EQ(adapter_.regions.size(), 1U);
  watched_.give_back(anew);
  EXPECT_TRUE(is_kept(memory_.pages(0, 2)));
}

/// Between the parts of a message lies memory that may go unseen while it is opened.
TEST_F(WatchedRegistrations, what_holds_more_than_the_message_is_not_kept) {
  watched_.give_back(**watched_.take(memory_.pages(0, 4), Access::local, Holds::parts));
  EXPECT_EQ(watched_.figures().not_kept, 1U);
  EXPECT_EQ(watched_.figures().regions, 0U);
}

TEST_F(WatchedRegistrations, memory_that_cannot_be_watched_is_not_kept) {
  ::mmap(memory_.pages(0, 1).data(), page, PROT_READ | PROT_WRITE,
         MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT_FALSE(is_kept(memory_.pages(0, 2)));
  EXPECT_FALSE(is_kept(memory_.pages(0, 2)));
  EXPECT_TRUE(adapter_.regions.empty());
  EXPECT_FALSE(is_kept(memory_.pages(1, 2)));
  EXPECT_TRUE(is_kept(memory_.pages(1, 2)));
}

TEST_F(WatchedRegistrations, what_is_closed_is_watched_no_more) {
  for (std::size_t i = 0; i < 60; ++i) (void)is_kept(memory_.pages(i, 2));
  adapter_.room = 0;
  EXPECT_TRUE(watched_.take(memory_.pages(0, 30), Access::local).failed());
  EXPECT_TRUE(adapter_.regions.empty());
  const auto somebody = base::MemoryEvents::open();
  EXPECT_TRUE(somebody.value().watch(range_of(memory_.pages(0, 62))).ok());
}

/// A block of MPI inside a region that nobody believes in just now is opened beside it, and not
/// kept: no region lies in another. Nothing is believed without the watch's descriptor.
TEST_F(WatchedRegistrations, a_block_of_mpi_inside_a_doubtful_region_is_not_kept) {
  const std::span<std::byte> block = memory_.pages(8, 4);
  watched_.own(block);
  watched_.give_back(take_watched(memory_.pages(0, 32), Access::local));
  ASSERT_EQ(watched_.figures().not_kept, 0U);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    if (std::filesystem::read_symlink(entry, none) == "anon_inode:[userfaultfd]") {
      ::close(std::stoi(entry.path().filename()));
    }
  }
  watched_.give_back(take_watched(block, Access::local));
  EXPECT_EQ(watched_.figures().not_kept, 1U);
  EXPECT_EQ(watched_.figures().regions, 1U);
}

TEST_F(WatchedRegistrations, several_caches_share_a_watch) {
  Adapter second_adapter;
  Registrations second(second_adapter, &watch_, {});
  second.give_back(**second.take(memory_.pages(0, 4), Access::local));
  EXPECT_FALSE(is_kept(memory_.pages(2, 4)));
  EXPECT_TRUE(is_kept(memory_.pages(2, 4)));
  ::madvise(memory_.pages(3, 1).data(), page, MADV_DONTNEED);
  EXPECT_FALSE(is_kept(memory_.pages(2, 4)));
  EXPECT_TRUE(second_adapter.regions.empty());
}

/// A change whose event nobody has read yet: another thread is inside munmap.
TEST_F(WatchedRegistrations, a_program_that_frees_all_the_time_gets_open_memory_all_the_same) {
  for (int i = 0; i < 200; ++i) {
    Registration& taken = take_watched(memory_.pages(0, 4));
    ::madvise(memory_.pages(1, 1).data(), page, MADV_DONTNEED);
    EXPECT_EQ(adapter_.region(taken).range, taken.range());
    watched_.give_back(taken);
  }
  EXPECT_EQ(watched_.figures().opened, 200U);
  EXPECT_LE(adapter_.regions.size(), 1U);
}

}  // namespace
}  // namespace fulmar::device
