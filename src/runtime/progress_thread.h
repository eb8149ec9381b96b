// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "base/error.h"
#include "device/device.h"

namespace fulmar::runtime {

/// The thread "fulmar-progress", which makes progress for a device (device/service.h) between
/// `start` and `stop`. It has all signals blocked, inherits the CPU mask of the thread that starts
/// it, and never runs code of the program. It ends before the atexit functions that the program and
/// other libraries have registered before `start`. A child of fork has none. Where the duty is
/// shared there are two, and the other one is "fulmar-second".
///
/// While it runs the engine's lock has to be on, whatever thread level the program requested.
///
/// Thread rule: `want`, `start` and `stop` as Process::enter and leave; the others any thread.
class ProgressThread {
 public:
  ProgressThread() = default;
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Sets the duty for `start`; without it `start` does nothing.
  void want(device::ThreadDuty duty) noexcept { duty_ = duty; }
  [[nodiscard]] bool wanted() const noexcept { return duty_ != device::ThreadDuty::none; }

  /// No effect if no duty is set. Fails (other) where the system has no thread or descriptor left.
  [[nodiscard]] base::Error start(device::Device& device);
  /// Returns when it has ended. No effect if there is none. Without the lock of the engine, or, at
  /// the end of the process, with it.
  void stop() noexcept;
  /// Whether the calling thread is one of the library's own.
  [[nodiscard]] bool is_this_thread() const noexcept {
    const pid_t number = ::gettid();
    return number_.load(std::memory_order_relaxed) == number ||
           second_number_.load(std::memory_order_relaxed) == number;
  }

 private:
  static void* run(void* self);
  static void* run_second(void* self);
  static void stop_at_exit();
  /// 0, or an errno value.
  [[nodiscard]] int launch() noexcept;
  void join() noexcept;

  device::ThreadDuty duty_ = device::ThreadDuty::none;
  device::Device* device_ = nullptr;  ///< null: there is no thread
  pthread_t thread_{};
  pthread_t second_{};
  bool runs_ = false;             ///< `thread_` was started
  bool second_runs_ = false;      ///< the same of `second_`
  std::atomic<pid_t> number_{0};  ///< the thread's own
  std::atomic<pid_t> second_number_{0};
  pid_t owner_ = 0;  ///< the process that has it
  bool stops_at_exit_ = false;
};

}  // namespace fulmar::runtime
