// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

namespace fulmar::device {

/// What a wait is for, as far as the caller knows; for reports of long waits.
struct WaitNote {
  enum class Kind : std::uint8_t {
    nothing,
    message,     ///< a device::Operation
    request,     ///< the device::Operation of a request
    arrival,     ///< a match::Key: a matching message
    coll_area,   ///< a device::ShmCollArea
    collective,  ///< a communicator; the layer above knows it
  };
  Kind kind = Kind::nothing;
  const void* subject = nullptr;
};

/// A wait in which nothing has moved for a while.
struct QuietWait {
  WaitNote note;
  std::int64_t since_ns = 0;  ///< monotonic time
  unsigned threads = 1;       ///< of this process that wait here
  bool many_threads = false;  ///< others may be elsewhere
  bool polled = false;        ///< calls that test or probe in a loop, not one that blocks
};

/// Receives reports of quiet waits, again before each sleep. Called with the lock held.
struct WaitObserver {
  void (*quiet)(void* context, const QuietWait& wait) = nullptr;
  void* context = nullptr;
};

/// A waiting thread, where several may wait.
struct Waiter {
  bool (*finished)(void*) noexcept = nullptr;
  void* argument = nullptr;
  std::atomic<std::uint32_t> signal{0};
  Waiter* next = nullptr;
  WaitNote note;
};

}  // namespace fulmar::device
