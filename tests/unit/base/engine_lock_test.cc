// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/engine_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/sanitizer.h"

namespace {

/// What ThreadSanitizer was told: of whom, and how often in all.
std::atomic<void*> last_acquired{nullptr};
std::atomic<void*> last_released{nullptr};
std::atomic<int> acquired{0};
std::atomic<int> released{0};

}  // namespace

#ifndef FULMAR_THREAD_SANITIZER
// In place of a sanitizer's: with these a lock is one of a program that is watched.
void __tsan_acquire(void* place) {  // NOLINT(bugprone-reserved-identifier)
  last_acquired = place;
  ++acquired;
}
void __tsan_release(void* place) {  // NOLINT(bugprone-reserved-identifier)
  last_released = place;
  ++released;
}
#endif

namespace fulmar::base {
namespace {

class WatchedLock : public testing::Test {
 protected:
  void SetUp() override {
    if (!thread_sanitizer_present()) GTEST_SKIP() << "the library is itself built with it";
    acquired = released = 0;
    last_acquired = last_released = nullptr;
  }
  void expect_told(int times_acquired, int times_released) {
    EXPECT_EQ(acquired, times_acquired);
    EXPECT_EQ(released, times_released);
    EXPECT_EQ(last_acquired, times_acquired > 0 ? &lock : nullptr);
    EXPECT_EQ(last_released, times_released > 0 ? &lock : nullptr);
  }
  /// Whether another thread gets the lock.
  bool is_free() {
    bool got = false;
    std::thread([&] {
      got = lock.try_acquire();
      if (got) lock.release();
    }).join();
    return got;
  }

  EngineLock lock;
};

TEST_F(WatchedLock, Both_ends_are_told) {
  lock.acquire();
  EXPECT_TRUE(lock.held());
  expect_told(1, 0);
  lock.release();
  EXPECT_FALSE(lock.held());
  expect_told(1, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(WatchedLock, Only_the_outermost_ends_are) {
  lock.acquire();
  lock.acquire();
  EXPECT_TRUE(lock.try_acquire());
  lock.release();
  lock.release();
  EXPECT_TRUE(lock.held());
  expect_told(1, 0);
  EXPECT_FALSE(is_free());
  lock.release();
  expect_told(1, 1);
  EXPECT_TRUE(is_free());
}

TEST_F(WatchedLock, Giving_it_up_and_taking_it_again_is_told) {
  lock.acquire();
  lock.acquire();
  const std::uint32_t depth = lock.suspend();
  expect_told(1, 1);
  EXPECT_TRUE(is_free());
  expect_told(2, 2);
  lock.resume(depth);
  expect_told(3, 2);
  lock.release();
  EXPECT_TRUE(lock.held());
  lock.release();
  expect_told(3, 3);
  EXPECT_TRUE(is_free());
}

TEST_F(WatchedLock, Trying_is_told_where_it_succeeds) {
  ASSERT_TRUE(lock.try_acquire());
  expect_told(1, 0);
  EXPECT_FALSE(is_free());
  expect_told(1, 0);
  lock.release();
  expect_told(1, 1);
}

TEST_F(WatchedLock, Switched_off_it_says_nothing) {
  lock.set_enabled(false);
  lock.acquire();
  lock.acquire();
  EXPECT_TRUE(lock.try_acquire());
  lock.release();
  expect_told(0, 0);
  lock.set_enabled(true);
  EXPECT_FALSE(lock.held());
}

TEST_F(WatchedLock, Threads_exclude_each_other) {
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  int inside = 0;
  int count = 0;
  std::atomic<int> overlaps{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const EngineGuard guard(lock);
        const EngineGuard inner(lock);
        if (inside++ != 0) ++overlaps;
        ++count;
        --inside;
        if (lock.contended() && round % 16 == 0) lock.hand_over();
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(count, threads * rounds);
  EXPECT_EQ(acquired, released);
  EXPECT_GE(acquired, threads * rounds);
}

}  // namespace
}  // namespace fulmar::base
