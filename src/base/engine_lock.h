// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/sanitizer.h"

namespace fulmar::base {

/// The one lock of an engine (all MPI state of a process today). Recursive, because callbacks of
/// the user (attribute copies, reductions, error handlers) may call MPI again. Switched off while
/// the process promised to have one thread (MPI_THREAD_SINGLE): then taking it is one predictable
/// branch and no locked instruction. It is annotated for ThreadSanitizer in programs that use this
/// library, which does not see the library's own instructions.
class EngineLock {
 public:
  void acquire() noexcept {
    if (!enabled_) return;
    const std::uintptr_t self = this_thread();
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    std::uint32_t expected = free_value_;
    if (!word_.compare_exchange_strong(expected, held_word, std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[unlikely]] {
      return acquire_slow();
    }
    owner_.store(self, std::memory_order_relaxed);
    depth_ = 1;
  }

  /// Takes the lock if no other thread has it.
  [[nodiscard]] bool try_acquire() noexcept;

  void release() noexcept {
    if (!enabled_) return;
    if (--depth_ != 0) [[unlikely]]
      return release_inner();
    owner_.store(0, std::memory_order_relaxed);
    if (word_.exchange(free_word, std::memory_order_release) == contended_word) [[unlikely]] {
      wake_one();
    }
  }

  /// Whether the calling thread may touch what the lock guards; for assertions.
  [[nodiscard]] bool held() const noexcept {
    return !enabled_ || owner_.load(std::memory_order_relaxed) == this_thread();
  }

  /// Whether other threads may be inside MPI too.
  [[nodiscard]] bool enabled() const noexcept { return enabled_; }

  /// Switches locking on or off. Only while no other thread is inside MPI, and not while held; but
  /// always where nothing changes.
  void set_enabled(bool enabled) noexcept {
    if (enabled_ != enabled) enabled_ = enabled;
  }

  /// Whether another thread waits for the lock. Requires held().
  [[nodiscard]] bool contended() const noexcept {
    return enabled_ && word_.load(std::memory_order_relaxed) == contended_word;
  }
  /// Hands the lock to a waiting thread once, and takes it again. Requires held().
  void hand_over() noexcept;

  /// Gives the lock up completely, whatever the depth, and returns the depth for `resume`.
  [[nodiscard]] std::uint32_t suspend() noexcept {
    if (!enabled_) return 0;
    const std::uint32_t depth = depth_;
    depth_ = first_depth();
    release();
    return depth;
  }
  void resume(std::uint32_t depth) noexcept {
    if (!enabled_) return;
    acquire();
    depth_ = depth;
  }

 private:
  static constexpr std::uint32_t free_word = 0;
  static constexpr std::uint32_t held_word = 1;
  static constexpr std::uint32_t contended_word = 2;

  /// Never in `word_`.
  static constexpr std::uint32_t no_word = 3;

  // With a ThreadSanitizer to notify, neither of the fast paths above is ever taken: no free lock
  // looks free, and the outermost depth is 2.
  [[nodiscard]] bool annotated() const noexcept { return free_value_ == no_word; }
  [[nodiscard]] std::uint32_t first_depth() const noexcept { return annotated() ? 2 : 1; }
  void hold() noexcept;

  static std::uintptr_t this_thread() noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  }
  void acquire_slow() noexcept;
  void release_inner() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> word_{free_word};
  bool enabled_ = true;
  std::uint32_t depth_ = 0;
  std::atomic<std::uintptr_t> owner_{0};
  std::uint32_t free_value_ = thread_sanitizer_present() ? no_word : free_word;
  std::atomic<std::uint32_t> slow_entries_{0};  ///< how often a thread got the lock after waiting
};

/// Holds an EngineLock for a scope.
class EngineGuard {
 public:
  explicit EngineGuard(EngineLock& lock) noexcept : lock_(lock) { lock_.acquire(); }
  ~EngineGuard() { lock_.release(); }
  EngineGuard(const EngineGuard&) = delete;
  EngineGuard& operator=(const EngineGuard&) = delete;

 private:
  EngineLock& lock_;
};

}  // namespace fulmar::base
