// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sched.h>

#include <cstdint>

#include "base/arch/pause.h"

namespace fulmar::device {

/// How a waiting rank spends its time, step by step: look again at once, then give the processor
/// away between looks, then sleep.
///
/// A rank with a core of its own spins for some ten microseconds, because waking a sleeper on
/// another core costs thirty. When ranks outnumber cores, whoever the wait is for may need this
/// very core: then it yields after a few looks. Sleep comes after about a millisecond of yielding
/// in vain.
class Idle {
 public:
  enum class Advice { look_again, sleep };

  explicit Idle(bool oversubscribed) noexcept
      : spins_(oversubscribed ? crowded_spins : lone_spins) {}

  void reset() noexcept { misses_ = 0; }

  [[nodiscard]] Advice step() noexcept {
    if (++misses_ < spins_) [[likely]] {
      return Advice::look_again;
    }
    return yield();
  }

 private:
  static constexpr std::uint32_t lone_spins = 4000;
  static constexpr std::uint32_t crowded_spins = 4;
  static constexpr std::uint32_t yields = 1000;

  [[gnu::noinline]] Advice yield() noexcept {
    if (misses_ > spins_ + yields) {
      misses_ = spins_;
      return Advice::sleep;
    }
    ::sched_yield();
    return Advice::look_again;
  }

  std::uint32_t spins_;
  std::uint32_t misses_ = 0;
};

}  // namespace fulmar::device
