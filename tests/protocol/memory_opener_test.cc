// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/regcache/memory_opener.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/clock.h"
#include "fabric/fake/fake.h"

namespace fulmar::device {
namespace {

using fabric::Access;

/// Pages without other users.
class Pages {
 public:
  static constexpr std::size_t bytes = 1U << 16;
  Pages()
      : memory_(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memset(memory_, 1, bytes);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { unmap(); }
  [[nodiscard]] std::span<std::byte> all() const {
    return {static_cast<std::byte*>(memory_), bytes};
  }
  void unmap() {
    if (memory_ != nullptr) ::munmap(memory_, bytes);
    memory_ = nullptr;
  }

 private:
  void* memory_;
};

class Opening : public ::testing::Test {
 protected:
  Opening() : network(2), port(network, 0) { network.memory().turn_on(); }
  bool opens(std::span<std::byte> memory) {
    const auto taken = opener.take(port, memory, Access::local, Holds::all);
    if (taken.ok()) opener.give_back(taken.value());
    return taken.ok();
  }
  bool opens(std::size_t bytes) { return opens(block.all().first(bytes)); }
  /// The program goes on as soon as the reader of events has read, a moment before it says so.
  [[nodiscard]] bool hears_news() const {
    const std::uint64_t deadline = base::now_ns() + 10'000'000'000;
    while (!opener.has_events() && base::now_ns() < deadline) ::sched_yield();
    return opener.has_events();
  }
  [[nodiscard]] std::uint64_t opened() { return network.memory().counters().opened; }
  [[nodiscard]] std::size_t open_now() { return network.memory().open_regions(); }

  fabric::FakeNetwork network;
  fabric::Fake port;
  Pages block;
  RegistrationCache opener;
};

TEST_F(Opening, Nothing_stays_open_without_a_budget) {
  opener.own(block.all());
  EXPECT_TRUE(opens(1000));
  EXPECT_TRUE(opens(1000));
  EXPECT_EQ(opened(), 2U);
  EXPECT_EQ(open_now(), 0U);
}

/// The provider refuses once. Expect: it is not asked for as much the next time, but for less, and
/// then for as much again.
TEST_F(Opening, Refused_amount_is_left_alone_for_a_while) {
  network.memory().refuse_to_open(1);
  EXPECT_FALSE(opens(500));
  EXPECT_TRUE(opens(499));
  EXPECT_FALSE(opens(500));
  EXPECT_TRUE(opens(500));
  EXPECT_EQ(opened(), 2U);
}

TEST_F(Opening, Is_tried_ever_more_rarely_and_at_last_again) {
  network.memory().limit_open(600);
  unsigned failed = 0;
  for (unsigned i = 0; i < 2000; ++i) failed += opens(800) ? 0 : 1;
  EXPECT_EQ(failed, 2000U);
  network.memory().limit_open(1000);
  unsigned tries = 1;
  while (!opens(800) && tries < 1000) ++tries;
  EXPECT_LE(tries, 256U);
  EXPECT_TRUE(opens(800));
}

/// Memory of MPI is opened once, whole, and known whichever part is asked for.
TEST_F(Opening, Block_of_mpi_is_opened_once_until_it_is_disowned) {
  opener.keep(1U << 20);
  opener.own(block.all());
  EXPECT_TRUE(opens(block.all().subspan(100, 5000)));
  EXPECT_TRUE(opens(block.all().last(1)));
  EXPECT_EQ(opened(), 1U);
  EXPECT_EQ(opener.figures().hits, 1U);
  EXPECT_EQ(opener.figures().bytes, Pages::bytes);
  opener.disown(block.all().data());
  EXPECT_EQ(open_now(), 0U);
}

TEST_F(Opening, Block_is_known_also_where_the_provider_came_first) {
  opener.keep(1U << 20);
  EXPECT_TRUE(opens(10));
  opener.own(block.all());
  EXPECT_TRUE(opens(5000));
  EXPECT_TRUE(opens(60000));
  EXPECT_EQ(opener.figures().hits, 1U);
}

/// Another allocation gets the address that a block of MPI had.
TEST_F(Opening, Nothing_is_believed_of_a_block_that_was_freed) {
  opener.keep(1U << 20);
  opener.own(block.all());
  EXPECT_TRUE(opens(1000));
  opener.disown(block.all().data());
  opener.disown(block.all().data());
  EXPECT_TRUE(opens(1000));
  EXPECT_EQ(opener.figures().hits, 0U);
}

TEST_F(Opening, Kept_memory_is_found_although_the_provider_refuses) {
  opener.keep(1U << 20);
  opener.own(block.all().first(8192));
  EXPECT_TRUE(opens(8192));
  network.memory().limit_open(8192);
  EXPECT_TRUE(opens(8192));
  Pages other;
  const auto held = opener.take(port, block.all().first(8192), Access::local, Holds::all);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(opens(other.all()));
  EXPECT_TRUE(opens(8192));
  EXPECT_EQ(opened(), 1U);
  opener.give_back(held.value());
}

TEST_F(Opening, Smaller_budget_closes_what_is_unused) {
  opener.keep(1U << 20);
  opener.own(block.all());
  EXPECT_TRUE(opens(1000));
  EXPECT_EQ(open_now(), 1U);
  opener.keep(0);
  EXPECT_EQ(open_now(), 0U);
  EXPECT_EQ(opener.figures().evicted, 1U);
}

TEST_F(Opening, Close_leaves_nothing_and_begins_anew) {
  opener.keep(1U << 20);
  opener.own(block.all());
  EXPECT_TRUE(opens(1000));
  opener.close();
  EXPECT_EQ(open_now(), 0U);
  EXPECT_TRUE(opens(1000));
  EXPECT_TRUE(opens(1000));
  EXPECT_EQ(opened(), 2U);
}

/// Memory of the program. Expect: kept while it is mapped, and closed without another transfer when
/// it is not.
TEST_F(Opening, Memory_of_the_program_is_kept_until_it_is_unmapped) {
  opener.keep(1U << 20);
  EXPECT_TRUE(opens(block.all()));
  if (opener.figures().not_kept != 0) GTEST_SKIP() << "memory cannot be watched here";
  EXPECT_TRUE(opens(block.all()));
  EXPECT_EQ(opened(), 1U);
  EXPECT_FALSE(opener.has_events());
  block.unmap();
  ASSERT_TRUE(hears_news());
  opener.settle();
  EXPECT_FALSE(opener.has_events());
  EXPECT_EQ(open_now(), 0U);
  EXPECT_EQ(opener.figures().unlisted, 1U);
}

}  // namespace
}  // namespace fulmar::device
