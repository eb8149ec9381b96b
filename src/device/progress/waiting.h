// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>

#include "base/engine_lock.h"
#include "base/error.h"
#include "base/os/wake_socket.h"
#include "device/config.h"
#include "device/progress/hook.h"
#include "device/progress/poll_watch.h"
#include "device/progress/waiter.h"
#include "device/stats/stats.h"
#include "device/transport/transports.h"

namespace fulmar::device {

class ActiveTransfers;
class Cancelling;
class Failures;
class Outbox;
class Service;
struct SleepPlace;

/// Whether progress polls a network from which nothing has come for a while.
enum class Look : bool { as_due, at_all };

/// The threads of this process that wait, and their sleep; waiting.cc explains both. One of the parts of a device.
///
/// Thread rule: the lock of the engine, which is given up while a thread sleeps.
class Waiting {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    Config& config;
    base::EngineLock& lock;
    Transports& transports;
    Stats& stats;
    const ProgressState& progress;
    const Outbox& outbox;
    const ActiveTransfers& active;
    const Cancelling& cancelling;
    Failures& failures;
    Service& service;
  };
  /// Called with `context`: makes progress once, and returns how much moved.
  struct Owner {
    void* context = nullptr;
    unsigned (*progress)(void* context, Look look) noexcept = nullptr;
  };

  Waiting(const Parts& parts, const Owner& owner) noexcept : parts_(parts), owner_(owner) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // --- sleep

  /// Lets this process sleep on the network and on shared memory at once, from now on. Fails (other) where the
  /// system has no descriptor left.
  [[nodiscard]] base::Error use_wake_socket();
  void drop_wake_socket() noexcept;
  /// Null: it sleeps on one of them.
  [[nodiscard]] const base::WakeSocket* wake_socket() const noexcept {
    return wake_socket_ ? &*wake_socket_ : nullptr;
  }
  /// Fills in what can end a sleep, and announces the sleep to the other ranks of the node.
  void prepare_sleep(SleepPlace& place) noexcept;
  /// This process is awake again.
  void finish_sleep() noexcept;
  /// A thread that waits has found nothing to do for a while: sleeps until something happens.
  [[gnu::noinline]] SleepEnd sleep(WaitNote what, std::uint32_t quiet_sleeps) noexcept;
  /// A thread sleeps, or is about to.
  [[nodiscard]] bool sleeping() const noexcept { return sleeping_; }
  /// Ends a sleep of this process; from any thread.
  void wake_self() noexcept;
  /// Something was queued that moves only with progress: ends a sleep in which that was not known.
  void wake_service() noexcept;
  /// The same from where a progress call may be under way, which will see it.
  void wake_for_progress() noexcept {
    if (!parts_.progress.running) wake_service();
  }

  // --- several threads

  /// Waits until `finished(argument)`, where other threads may wait, too.
  void wait_with_threads(bool (*finished)(void*) noexcept, void* argument, WaitNote note) noexcept;
  /// Something has changed for which a thread may wait: progress looks at the end of its call.
  void note_change() noexcept {
    if (first_waiter_ != nullptr) [[unlikely]]
      waiters_stale_ = true;
  }
  /// Whether `finish_progress` is due.
  [[nodiscard]] bool stale() const noexcept { return waiters_stale_; }
  /// The end of a progress call after which threads, or the observer, have something to do.
  [[gnu::noinline]] void finish_progress() noexcept;
  /// Wakes the threads whose conditions are true.
  void notify_waiters() noexcept;
  /// The same after a change that was made outside of progress.
  void notify_change() noexcept {
    if (waiters_stale_ && !parts_.progress.running) [[unlikely]]
      notify_waiters();
  }
  /// Null: no thread waits here (where one thread alone is in MPI it is not listed).
  [[nodiscard]] Waiter* first() const noexcept { return first_waiter_; }
  /// Whether a thread makes progress for all.
  [[nodiscard]] bool has_leader() const noexcept { return leader_ != nullptr; }
  void signal(Waiter& waiter) noexcept;

  // --- calls of the observer that have to wait

  /// Lets the observer's `settle` be called soon, where that may call MPI.
  void defer() noexcept { settle_due_ = waiters_stale_ = true; }
  void forget_deferred() noexcept { settle_due_ = false; }
  /// Calls it now if it is due.
  void settle_if_due() noexcept {
    if (settle_due_) settle();
  }

  // --- one thread that polls

  [[nodiscard]] YieldCost& yield_cost() noexcept { return yield_cost_; }
  /// A call that tests once has moved something, or nothing: then it may yield the processor.
  void poll_moved() noexcept { missed_polls_ = 0; }
  void poll_missed(WaitNote note) noexcept;

 private:
  void fence_senders() noexcept;
  void give_up_membarrier() noexcept;
  void count_sleep(std::uint64_t slept_ns) noexcept;
  void report_quiet(WaitNote note, std::uint32_t quiet_sleeps) noexcept;
  [[gnu::cold]] void report_polling(WaitNote note) noexcept;
  void lead(Waiter& self) noexcept;
  bool leader_ready() noexcept;
  void add_waiter(Waiter& waiter) noexcept;
  void remove_waiter(Waiter& waiter) noexcept;
  void settle() noexcept;
  [[nodiscard]] unsigned progress(Look look) noexcept {
    return owner_.progress(owner_.context, look);
  }
  [[nodiscard]] NodeChannel* node() noexcept { return parts_.transports.node(); }

  Parts parts_;
  Owner owner_;
  Waiter* first_waiter_ = nullptr;
  Waiter* leader_ = nullptr;
  bool waiters_stale_ = false;
  bool settle_due_ = false;  ///< set together with waiters_stale_, which progress checks
  bool sleeping_ = false;
  std::optional<base::WakeSocket> wake_socket_;
  std::int64_t quiet_since_ns_ = 0;
  std::uint32_t missed_polls_ = 0;
  YieldCost yield_cost_;
  PollWatch poll_watch_;
};

}  // namespace fulmar::device
