// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/service.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/trace.h"
#include "device/device.h"
#include "device/progress/sleep_place.h"

/// A thread that makes progress while the program computes
/// -------------------------------------------------------
/// One thread serves all networks and the node's shared memory: it sleeps on all of them in one
/// system call, makes progress when something has arrived, and sleeps again. The difficulty is
/// to keep it out of the way of a program that is in MPI: if it handled every message
/// of a ping-pong, each would cost two thread switches (in the paper about Open MPI on Elan4 9
/// of the 19 us that its thread adds; the other 10 are those of the interrupt).
///
/// So it serves in *turns*. During its turn it sleeps with the node's wake word set. A thread
/// of the program that starts to poll (it waits, or tests) *steps in*: that ends the
/// turn, clears the word, so that no sender sends a useless wake-up, and wakes the thread from its
/// sleep. From then on the thread *stands by*: it sleeps on a word of its own and checks after a
/// while, without the lock, whether the program has stepped in again meanwhile.
///   * It has: then it is busy with MPI, and the thread checks again after twice as long (100 us at
///     first, 2 ms at most).
///   * A thread of the program has been waiting all the time: it needs no help, however long that
///     takes. The thread *parks*, and is woken when that wait is over.
///   * Neither: the program computes. It is the thread's turn.
/// A wait thus costs the program a load and a store, and the first one after a turn one more system
/// call. The turn begins after the program has been away for about as long as it had been there.
///
/// No work is left unattended: while the thread stands by, it checks again soon, or a waiting
/// thread will wake it. Work that a thread of the program leaves behind during a turn (a message
/// that waits for ring space, packets that a network batches) wakes the thread (`wake`).
///
/// Only one thread makes progress at a time: progress needs the lock. A thread that is
/// called off does not acquire it. That is why it reads `attends_` after its sleep: the
/// program polls in a loop with the lock held, and would have to release it.
///
/// Code of the program never runs on this thread: the program may be single-threaded, or need a
/// lock (of an interpreter, say) whose holder waits for the engine's. User-defined reduction
/// functions are deferred to the program's next progress call (mpi/coll/engine/schedules.cc), and
/// so are callbacks of tools that need not be thread-safe (mpi/tool/events.h).
///
/// The duty `all` is for studies: threads of the program that wait sleep, and the thread wakes them
/// when their condition holds. That is the thread of the paper. The paper's two threads are the
/// duty `shared`: see service_second.cc.
namespace fulmar::device {
namespace {

constexpr std::int64_t least_patience_ns = 100'000;
constexpr std::int64_t most_patience_ns = 2'000'000;

}  // namespace

base::Error Service::open(ThreadDuty duty) {
  if (device_.waiting_.wake_socket() != nullptr && !bell_.valid()) {
    bell_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!bell_.valid()) {
      return base::failure(base::ErrorClass::other, "eventfd failed (%s)", std::strerror(errno));
    }
  }
  stops_ = false;
  if (duty == ThreadDuty::shared) {
    if (const base::Error error = open_second(); error.failed()) return error;
  }
  duty_ = duty == ThreadDuty::shared ? ThreadDuty::all : duty;
  return {};
}

void Service::run() noexcept {
  std::int64_t patience_ns = least_patience_ns;
  while (!stops_) {
    if (duty() != ThreadDuty::all && stand_by(patience_ns) == Program::busy) {
      patience_ns = std::min(2 * patience_ns, most_patience_ns);
      continue;
    }
    if (program_leads_) {
      park();
    } else {
      attend();
    }
    patience_ns = least_patience_ns;
  }
}

/// Waits for `patience_ns`, and returns whether the program has stepped in meanwhile.
Service::Program Service::stand_by(std::int64_t patience_ns) noexcept {
  const std::uint32_t seen = steps_.load(std::memory_order_relaxed);
  base::futex_wait(word_, 0, base::FutexScope::process, patience_ns);
  if (!stops_) word_ = 0;
  return steps_.load(std::memory_order_relaxed) != seen ? Program::busy : Program::steady;
}

/// Returns when no thread of the program waits any more.
void Service::park() noexcept {
  parked_ = true;
  while (program_leads_ && !stops_) {
    base::futex_wait(word_, 0, base::FutexScope::process);
    if (!stops_) word_ = 0;
  }
  parked_ = false;
}

/// One turn. In a trace it encloses the stages of messages that no call of the program encloses.
void Service::attend() noexcept {
  const base::TraceSpan span(device_.config_.trace, "turn of the progress thread");
  base::EngineLock& lock = device_.lock_;
  lock.acquire();
  if (!device_.waiting_.has_leader() && !stops_) {
    attends_ = true;
    ++device_.stats_.counters().thread_turns;
  }
  while (attends_ && !stops_) {
    if (lock.contended()) {
      lock.hand_over();
      if (!attends_) break;
    }
    if (look(Depth::as_due) == 0 && rest() == Rest::called_off) return;
  }
  attends_ = false;
  lock.release();
}

unsigned Service::look(Depth depth) noexcept {
  polling_ = true;
  const unsigned moved = device_.progress(depth == Depth::at_all ? Look::at_all : Look::as_due);
  polling_ = false;
  device_.stats_.counters().thread_moved += moved;
  return moved;
}

/// Sleeps until there is something to do. The lock is held again if it is still the thread's turn.
Service::Rest Service::rest() noexcept {
  // No thread of the program may look: it computes, or sleeps on something of its own.
  if (device_.failures_.look()) return Rest::over;
  SleepPlace place(device_.waiting_.wake_socket() != nullptr ? wire::Asleep::on_socket
                                                             : wire::Asleep::helper_on_word);
  if (device_.waiting_.wake_socket() != nullptr) {
    place.add(bell_.get());
    place.add(device_.waiting_.wake_socket()->descriptor());
  }
  device_.waiting_.prepare_sleep(place);
  if (look(Depth::at_all) != 0 || !place.may_sleep) {
    device_.waiting_.finish_sleep();
    return Rest::over;
  }
  // 0 where a network has to be polled: that is no sleep.
  const std::int64_t most_ns =
      place.limited(device_.cancelling_.needed() ? SleepPlace::leaving_ns : SleepPlace::longest_ns);
  rests_ = true;
  called_ = false;
  device_.lock_.release();
  place.sleep(most_ns);
  std::uint64_t rings = 0;
  if (bell_.valid() && place.is_ready(0)) (void)!::read(bell_.get(), &rings, sizeof rings);
  if (!attends_) return Rest::called_off;
  device_.lock_.acquire();
  if (!attends_) {
    device_.lock_.release();
    return Rest::called_off;
  }
  if (most_ns != 0) ++device_.stats_.counters().thread_wakeups;
  wake_up(place);
  return Rest::over;
}

void Service::wake_up(const SleepPlace& place) noexcept {
  rests_ = false;
  if (device_.waiting_.wake_socket() != nullptr && place.is_ready(1))
    device_.waiting_.wake_socket()->drain();
  device_.waiting_.finish_sleep();
}

void Service::take_over(Stay stay) noexcept {
  if (takes_all()) return;
  needs_program_ = false;
  steps_.store(steps_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (stay == Stay::until_step_out) program_leads_ = true;
  if (!attends_.load(std::memory_order_relaxed)) return;
  attends_ = false;
  if (!rests_) return;
  call();
  rests_ = false;
  device_.waiting_.finish_sleep();
}

void Service::hand_back() noexcept {
  program_leads_ = false;
  if (!parked_) return;
  word_ = 1;
  base::futex_wake(word_, 1, base::FutexScope::process);
}

/// Ends the thread's sleep on event sources.
void Service::call() noexcept {
  called_ = true;
  if (bell_.valid()) {
    const std::uint64_t one = 1;
    (void)!::write(bell_.get(), &one, sizeof one);
    return;
  }
  device_.wake_self();
}

void Service::need_program() noexcept {
  needs_program_ = true;
  if (device_.waiting_.first() != nullptr) device_.waiting_.signal(*device_.waiting_.first());
}

void Service::stop() noexcept {
  stops_ = true;
  duty_ = ThreadDuty::none;
  attends_ = false;
  if (rests_) {
    call();
    rests_ = false;
    device_.waiting_.finish_sleep();
  }
  word_ = 1;
  base::futex_wake(word_, 1, base::FutexScope::process);
  stop_second();
}

}  // namespace fulmar::device
