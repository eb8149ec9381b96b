// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>

#include "base/clock.h"
#include "base/os/futex.h"
#include "wire/node/shm_area.h"

namespace fulmar::device {

/// What a thread of this process sleeps on: the wake word of the node's shared memory, or
/// descriptors. Waiting::prepare_sleep fills it in. Owns nothing.
struct SleepPlace {
  /// No wake-up should be lost; if one is, this bounds the delay.
  static constexpr std::int64_t longest_ns = 1'000'000'000;
  /// After the first sleep the observer gets a report of the wait.
  static constexpr std::int64_t first_ns = 200'000'000;
  /// While cancel requests or queued packets wait for a peer that may leave: its departure wakes
  /// no other process.
  static constexpr std::int64_t leaving_ns = 20'000'000;

  explicit SleepPlace(wire::Asleep how) noexcept : where(how) {}

  wire::Asleep where;
  std::atomic<std::uint32_t>* word = nullptr;  ///< null: no shared memory
  bool may_sleep = true;                       ///< no event was pending
  std::int64_t due_ns = INT64_MAX;             ///< when a network has to be polled again

  /// Adds a descriptor that ends the sleep when it is readable. They are numbered from 0.
  void add(int descriptor) noexcept { ready_[count_++] = {descriptor, POLLIN, 0}; }
  /// Whether there is anything that ends the sleep.
  [[nodiscard]] bool can_be_left() const noexcept { return word != nullptr || count_ != 0; }
  /// The limit `longest`, shortened to the next deadline of a network.
  [[nodiscard]] std::int64_t limited(std::int64_t longest) const noexcept {
    return std::clamp<std::int64_t>(due_ns - static_cast<std::int64_t>(base::now_ns()), 0, longest);
  }
  /// Sleeps for `most_ns` at most. Without the lock. True: something has ended the sleep.
  bool sleep(std::int64_t most_ns) noexcept {
    if (count_ == 0) {
      const auto asleep = static_cast<std::uint32_t>(where);
      base::futex_wait(*word, asleep, base::FutexScope::shared, most_ns);
      return word->load(std::memory_order_relaxed) != asleep;
    }
    const timespec time{static_cast<time_t>(most_ns / 1'000'000'000), most_ns % 1'000'000'000};
    const bool ended = ::ppoll(ready_.data(), count_, &time, nullptr) > 0;
    if (!ended) {
      for (pollfd& each : ready_) each.revents = 0;
    }
    return ended;
  }
  /// Whether that descriptor ended the last sleep.
  [[nodiscard]] bool is_ready(std::size_t place) const noexcept {
    return ready_[place].revents != 0;
  }

 private:
  /// A wake socket, the network, and the eventfd of the progress thread.
  std::array<pollfd, 3> ready_{};
  std::size_t count_ = 0;
};

}  // namespace fulmar::device
