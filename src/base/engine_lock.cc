// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/engine_lock.h"

#include <sched.h>

#include "base/arch/pause.h"
#include "base/clock.h"
#include "base/os/futex.h"

namespace fulmar::base {
namespace {

constexpr int spins_before_sleep = 100;
/// How long hand_over waits for the woken thread to arrive: a wake across cores takes some 30 us.
/// The time matters where processes share the core: there a single yield can take milliseconds, and
/// no thread may be waiting any more, as the word stays "contended" until the next release.
constexpr int most_yields = 100;
constexpr std::uint64_t most_ns = 100'000;

}  // namespace

/// The lock has just been taken.
void EngineLock::hold() noexcept {
  owner_.store(this_thread(), std::memory_order_relaxed);
  depth_ = first_depth();
  if (annotated()) note_acquired(this);
}

void EngineLock::acquire_slow() noexcept {
  for (int i = 0; i < spins_before_sleep; ++i) {
    std::uint32_t expected = free_word;
    if (word_.compare_exchange_weak(expected, held_word, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return hold();
    }
    arch::pause();
  }
  while (word_.exchange(contended_word, std::memory_order_acquire) != free_word) {
    futex_wait(word_, contended_word, FutexScope::process);
  }
  slow_entries_.fetch_add(1, std::memory_order_relaxed);
  hold();
}

bool EngineLock::try_acquire() noexcept {
  if (!enabled_) return true;
  if (owner_.load(std::memory_order_relaxed) == this_thread()) {
    ++depth_;
    return true;
  }
  std::uint32_t expected = free_word;
  if (!word_.compare_exchange_strong(expected, held_word, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
    return false;
  }
  hold();
  return true;
}

/// Where the depth is not 0 yet.
void EngineLock::release_inner() noexcept {
  if (!annotated() || depth_ >= first_depth()) return;
  depth_ = 0;
  note_released(this);
  owner_.store(0, std::memory_order_relaxed);
  if (word_.exchange(free_word, std::memory_order_release) == contended_word) wake_one();
}

void EngineLock::hand_over() noexcept {
  const std::uint32_t before = slow_entries_.load(std::memory_order_relaxed);
  const std::uint32_t depth = suspend();
  const std::uint64_t deadline = now_ns() + most_ns;
  for (int i = 0; i < most_yields && slow_entries_.load(std::memory_order_relaxed) == before; ++i) {
    ::sched_yield();
    if (now_ns() > deadline) break;
  }
  resume(depth);
}

void EngineLock::wake_one() noexcept { futex_wake(word_, 1, FutexScope::process); }

}  // namespace fulmar::base
