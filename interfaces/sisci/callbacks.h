// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace fulmar::sisci {

/// The thread on which callbacks of the program run, one at a time, in the order in which they were
/// posted. It is started with the first one.
///
/// Thread rule: any thread.
class Callbacks {
 public:
  Callbacks() = default;
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  ~Callbacks() { stop(); }

  void post(std::function<void()> call);
  /// Whether the caller is this thread, so in a callback.
  [[nodiscard]] bool is_current() const noexcept;
  /// Waits for the callback that is running; what was posted and has not begun is dropped. May be followed
  /// by `post`, unless a callback has called this: then no other runs any more.
  void stop() noexcept;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> calls_;
  std::thread thread_;
  bool is_stopping_ = false;
};

}  // namespace fulmar::sisci
