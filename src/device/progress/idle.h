// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sched.h>

#include <cstdint>

#include "base/clock.h"

namespace fulmar::device {

/// How a thread that waits spends its time (FULMAR_WAIT).
enum class WaitStyle : std::uint8_t {
  automatic,  ///< polls for a while, then yields the processor between polls, then sleeps
  poll,       ///< never sleeps
  sleep,      ///< sleeps as soon as there is nothing to do
};

/// The current cost of a yield. Where other processes compete for this core, a yield gives it to
/// them for a time slice, some milliseconds, whatever arrives meanwhile; a sleeping thread gets the
/// core back when it is woken. So after a long yield this process does not yield for a while, and
/// that period doubles each time the next yield is long, too. A rank of this job that computes on
/// this core has the same effect and is treated the same, but a later yield soon detects its end.
///
/// Thread rule: the lock of the engine.
class YieldCost {
 public:
  [[nodiscard]] bool is_high(std::uint64_t now_ns) const noexcept { return now_ns < until_ns_; }
  /// A yield took so long and ended now.
  void note(std::uint64_t took_ns, std::uint64_t now_ns) noexcept {
    if (took_ns < long_yield_ns) {
      pause_ns_ = shortest_pause_ns;
      return;
    }
    until_ns_ = now_ns + pause_ns_;
    if (pause_ns_ < longest_pause_ns) pause_ns_ *= 2;
  }

  static constexpr std::uint64_t long_yield_ns = 500'000;
  static constexpr std::uint64_t shortest_pause_ns = 5'000'000;
  static constexpr std::uint64_t longest_pause_ns = 160'000'000;

 private:
  std::uint64_t until_ns_ = 0;
  std::uint64_t pause_ns_ = shortest_pause_ns;
};

/// What a wait has come to when it was to sleep.
enum class SleepEnd : std::uint8_t {
  quiet,  ///< nothing has happened, or it has not slept
  woken,  ///< somebody has woken it
  moved,  ///< something moved before it slept
};

/// How a waiting rank spends its time, step by step: it polls in a loop, then yields the processor
/// between polls, then sleeps. A rank that never sleeps gets the advice to sleep, too, but rarely:
/// it then reports what it waits for.
///
/// A rank with a core of its own spins for some ten microseconds, because waking a sleeper on
/// another core costs thirty. When ranks outnumber cores, the rank that is waited for may need this
/// core: then it yields after a few polls. It sleeps after about a millisecond of yields without
/// an event. On a host that also runs other programs a yield takes as long as their time
/// slices, milliseconds each: then it sleeps without a yield (see YieldCost).
///
/// `now_ns` is the clock; another one in tests.
template <std::uint64_t (*now_ns)() noexcept>
class IdleBy {
 public:
  enum class Advice { look_again, sleep };

  /// `cost` outlives this.
  IdleBy(WaitStyle style, bool oversubscribed, YieldCost& cost) noexcept
      : cost_(&cost),
        spins_(style == WaitStyle::sleep ? 0
               : oversubscribed          ? crowded_spins
                                         : lone_spins),
        yields_(style == WaitStyle::sleep  ? 0
                : style == WaitStyle::poll ? poll_yields
                                           : yields) {}

  void reset() noexcept { state_ = 0; }
  /// After a sleep. A rank that was woken polls as long as one that has just begun to wait: who woke it
  /// may come again a little later (mpi/rma/sync/call_patience.h).
  void note(SleepEnd end) noexcept {
    if (end == SleepEnd::moved) state_ = 0;
    if (end == SleepEnd::woken) state_ = state_ >> 32 << 32;
  }

  /// Sleeps since something moved last.
  [[nodiscard]] std::uint32_t quiet_sleeps() const noexcept {
    return static_cast<std::uint32_t>(state_ >> 32);
  }

  [[nodiscard]] Advice step() noexcept {
    if (static_cast<std::uint32_t>(++state_) < spins_) [[likely]] {
      return Advice::look_again;
    }
    return yield();
  }

 private:
  static constexpr std::uint32_t lone_spins = 4000;
  static constexpr std::uint32_t crowded_spins = 4;
  static constexpr std::uint32_t yields = 1000;
  /// Some tens of milliseconds.
  static constexpr std::uint32_t poll_yields = 100'000;
  static constexpr std::uint64_t yields_ns = 2'000'000;
  static constexpr std::uint64_t poll_yields_ns = 50'000'000;
  static constexpr std::uint32_t yields_per_clock = 4;

  [[gnu::noinline]] Advice yield() noexcept {
    const std::uint32_t yielded = static_cast<std::uint32_t>(state_) - spins_;
    if (yielded > yields_ || is_late(yielded)) {
      state_ = (std::uint64_t{quiet_sleeps()} + 1) << 32 | spins_;
      return Advice::sleep;
    }
    ::sched_yield();
    // The event often arrives during the first yield: then the clock is not read again.
    if (yielded <= 1) {
      const std::uint64_t now = now_ns();
      cost_->note(now - begin_ns_, now);
    }
    return Advice::look_again;
  }

  /// Whether it is time to sleep instead of yielding: the yields since the last poll that moved
  /// something, or since the last sleep, have taken too long, or each one does. The first one is
  /// number 0 or, after a sleep, 1.
  [[nodiscard]] bool is_late(std::uint32_t yielded) noexcept {
    if (yielded > 1 && yielded % yields_per_clock != 0) return false;
    const std::uint64_t now = now_ns();
    if (yielded <= 1) begin_ns_ = now;
    if (yields_ == poll_yields) return now - begin_ns_ > poll_yields_ns;
    return now - begin_ns_ > yields_ns || cost_->is_high(now);
  }

  YieldCost* cost_;
  std::uint32_t spins_;
  std::uint32_t yields_;
  std::uint64_t state_ = 0;  ///< polls that moved nothing, and in the upper half the sleeps
  /// Begin of the yields. Set by the first of them, so that waits without yields do not pay for it.
  std::uint64_t begin_ns_;
};

inline std::uint64_t idle_clock() noexcept { return base::now_ns(); }
using Idle = IdleBy<idle_clock>;

}  // namespace fulmar::device
