// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::device {

class Device;
struct SleepPlace;

/// What the library's own thread does for a device (FULMAR_PROGRESS_THREAD).
enum class ThreadDuty : std::uint8_t {
  none,     ///< there is no such thread
  absence,  ///< makes progress while no thread of the program does
  all,      ///< makes all progress; threads of the program that wait sleep (for studies)
  shared,   ///< `all`, and a second thread sleeps on local completions alone (for studies)
};

/// Progress while the program is not in MPI: what a thread of the library does, and how it and the
/// threads of the program take turns. service.cc explains it. The thread itself belongs to
/// the runtime.
///
/// Thread rule: `run` is what that one thread calls, without the lock, and `run_second` what a
/// second one does (service_second.cc). All other members need the lock of the engine.
class Service {
 public:
  explicit Service(Device& device) noexcept : device_(device) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Before `run`: when all channels are known. Fails (other) where the system has no descriptor
  /// left, or the duty cannot be shared.
  [[nodiscard]] base::Error open(ThreadDuty duty);
  /// Whether there is something for a second thread to sleep on.
  [[nodiscard]] bool can_share() noexcept;
  /// The thread's whole life: returns after `stop`.
  void run() noexcept;
  /// The same for the second thread of the duty `shared`.
  void run_second() noexcept;
  void stop() noexcept;

  /// A thread of the program is about to make progress itself, once or until `step_out`.
  enum class Stay : std::uint8_t { once, until_step_out };
  void step_in(Stay stay) noexcept {
    if (duty() != ThreadDuty::none) [[unlikely]]
      take_over(stay);
  }
  void step_out() noexcept {
    if (duty() != ThreadDuty::none) [[unlikely]]
      hand_back();
  }
  /// Something was queued that moves only with progress: ends a rest.
  void wake() noexcept {
    if (rests_ && !called_) [[unlikely]]
      call();
  }
  /// A thread is about to sleep on all event sources, until `due_ns` at most.
  void note_sleep(std::int64_t due_ns) noexcept { due_ns_ = due_ns; }
  /// Whether it is the thread's turn, and the thread is asleep.
  [[nodiscard]] bool rests() const noexcept { return rests_; }
  /// Whether the thread is making progress now. It must not run code of the program, which is
  /// deferred to the program's next progress call; `need_program` requests one soon.
  [[nodiscard]] bool polling() const noexcept { return polling_; }
  void need_program() noexcept;
  /// Whether threads of the program are to leave all progress to the thread now.
  [[nodiscard]] bool takes_all() const noexcept {
    return duty() == ThreadDuty::all && attends_.load(std::memory_order_relaxed) && !needs_program_;
  }

 private:
  enum class Depth : bool { as_due, at_all };
  void take_over(Stay stay) noexcept;
  void hand_back() noexcept;
  void call() noexcept;
  enum class Program : std::uint8_t { busy, steady };  ///< whether it has stepped in meanwhile
  Program stand_by(std::int64_t patience_ns) noexcept;
  void park() noexcept;
  void attend() noexcept;
  enum class Rest : std::uint8_t { over, called_off };
  Rest rest() noexcept;
  [[nodiscard]] unsigned look(Depth depth) noexcept;
  void wake_up(const SleepPlace& place) noexcept;

  // service_second.cc
  [[nodiscard]] base::Error open_second();
  void stop_second() noexcept;
  Rest rest_on_ends() noexcept;
  void sleep_again() noexcept;

  [[nodiscard]] ThreadDuty duty() const noexcept { return duty_.load(std::memory_order_relaxed); }

  Device& device_;
  base::UniqueFd bell_;         ///< an eventfd that ends a sleep on descriptors
  base::UniqueFd second_bell_;  ///< the same for the second thread; none: there is none
  std::int64_t due_ns_ = 0;     ///< see note_sleep
  bool polling_ = false;
  bool rests_ = false;          ///< asleep for everything that can happen, or about to be
  bool called_ = false;         ///< called off since it went to sleep
  bool needs_program_ = false;  ///< code of the program is due

  // What the thread reads without the lock.
  std::atomic<ThreadDuty> duty_{ThreadDuty::none};
  std::atomic<bool> attends_{false};  ///< it is its turn; set by the thread, cleared by any thread
  std::atomic<bool> stops_{false};
  std::atomic<bool> program_leads_{false};
  std::atomic<bool> parked_{false};
  std::atomic<std::uint32_t> steps_{0};  ///< how often a thread of the program has stepped in
  std::atomic<std::uint32_t> word_{0};   ///< futex word while it stands by; 1: wake up
};

}  // namespace fulmar::device
