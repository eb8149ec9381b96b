// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <ctime>

#include "base/clock.h"

namespace fulmar::device {

/// Tells a rank that waits by test or probe calls in a loop from one that computes and now and then
/// looks whether something has come.
///
/// Who waits spends next to nothing between two calls, or sleeps there. So what counts is the time
/// on a processor for each call in vain, of all threads of the process: a loop of calls needs less
/// than a microsecond, one that also computes a tile of a matrix needs hundreds. The clocks are
/// read at every 64th call only.
class PollWatch {
 public:
  /// A call found nothing. `moved` is a number that grows whenever anything moves. True if such
  /// calls have lasted, and it is time to say so (again).
  [[nodiscard]] bool in_vain(std::uint64_t moved) noexcept {
    return ++polls_ % polls_per_look == 0 && look(moved);
  }
  /// When the first of them was.
  [[nodiscard]] std::int64_t since_ns() const noexcept { return since_ns_; }

 private:
  static constexpr std::uint32_t polls_per_look = 64;
  static constexpr std::int64_t most_work_ns = polls_per_look * std::int64_t{50'000};
  static constexpr std::int64_t report_interval_ns = 200'000'000;

  [[gnu::noinline]] bool look(std::uint64_t moved) noexcept {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    const std::int64_t work_ns = std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
    const auto now_ns = static_cast<std::int64_t>(base::now_ns());
    const bool worked = work_ns - work_ns_ > most_work_ns;
    work_ns_ = work_ns;
    if (worked || moved != moved_ || since_ns_ == 0) {
      moved_ = moved;
      since_ns_ = told_ns_ = now_ns;
      return false;
    }
    if (now_ns - told_ns_ < report_interval_ns) return false;
    told_ns_ = now_ns;
    return true;
  }

  std::uint32_t polls_ = 0;
  std::uint64_t moved_ = 0;
  std::int64_t work_ns_ = 0;
  std::int64_t since_ns_ = 0;
  std::int64_t told_ns_ = 0;
};

}  // namespace fulmar::device
