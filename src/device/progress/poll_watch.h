// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <ctime>

#include "base/clock.h"

namespace fulmar::device {

/// Distinguishes a rank that waits by calling test or probe in a loop from one that computes and
/// tests now and then.
///
/// A waiting rank computes next to nothing between two calls, or sleeps there. So the criterion is
/// the processor time per unsuccessful call, of all threads of the process: a polling loop needs
/// less than a microsecond, a loop that also computes a tile of a matrix needs hundreds. The clocks
/// are read at every 64th call only.
class PollWatch {
 public:
  /// A call was unsuccessful. `moved` is a number that grows whenever anything moves. True if such
  /// calls have lasted for a while and a report is due.
  [[nodiscard]] bool in_vain(std::uint64_t moved) noexcept {
    return ++polls_ % polls_per_look == 0 && look(moved);
  }
  /// When the first of those calls was made.
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
      since_ns_ = reported_ns_ = now_ns;
      return false;
    }
    if (now_ns - reported_ns_ < report_interval_ns) return false;
    reported_ns_ = now_ns;
    return true;
  }

  std::uint32_t polls_ = 0;
  std::uint64_t moved_ = 0;
  std::int64_t work_ns_ = 0;
  std::int64_t since_ns_ = 0;
  std::int64_t reported_ns_ = 0;
};

}  // namespace fulmar::device
