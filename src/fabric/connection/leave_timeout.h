// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::fabric {

/// The timeout of a process that leaves, for an answer that may never come.
///
/// The state must not change by time alone: a caller checks `quiesced` only after progress, so `poll`
/// reports the expiry as progress. And as long as the expiry was not reported, a sleep has to end by
/// `wake_ns`, also if that time has passed already: it may pass between the last poll and the sleep.
///
/// Times are CLOCK_MONOTONIC, in nanoseconds.
class LeaveTimeout {
 public:
  void start(std::int64_t now_ns, std::int64_t timeout_ns) noexcept {
    end_ns_ = now_ns + timeout_ns;
    running_ = true;
    expired_ = false;
  }
  /// As if never started.
  void reset() noexcept { running_ = expired_ = false; }
  /// Called by each poll while `running`. True once, when the time is over: that is progress.
  [[nodiscard]] bool expire(std::int64_t now_ns) noexcept {
    if (!running_ || now_ns < end_ns_) return false;
    running_ = false;
    return expired_ = true;
  }
  /// Started, and `expire` has not answered true.
  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] bool expired() const noexcept { return expired_; }
  /// When a sleep has to end, perhaps in the past; -1: this ends none.
  [[nodiscard]] std::int64_t wake_ns() const noexcept { return running_ ? end_ns_ : -1; }

 private:
  std::int64_t end_ns_ = 0;
  bool running_ = false;
  bool expired_ = false;
};

/// The earlier of two times at which a sleep has to end; -1: never.
constexpr std::int64_t earlier_wake(std::int64_t a_ns, std::int64_t b_ns) noexcept {
  if (a_ns < 0 || b_ns < 0) return a_ns < 0 ? b_ns : a_ns;
  return a_ns < b_ns ? a_ns : b_ns;
}

}  // namespace fulmar::fabric
