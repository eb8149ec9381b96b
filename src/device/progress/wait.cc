// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/os/futex.h"
#include "device/device.h"
#include "device/progress/sleep_place.h"

/// Sleeping, and waiting with several threads.
///
/// Sleep without a lost wake-up and without a fence in the sender: the sleeper sets its wake word,
/// makes every processor that runs a rank pass a barrier (membarrier, which costs the sleeper some
/// microseconds and the senders nothing), and polls once more. That poll finds every packet that
/// was put before the barrier; a sender that puts one later sees the wake word. Where membarrier is
/// denied, the senders fence.
///
/// Where networks are in use too, the sleeper waits in one ppoll for their descriptors and for a
/// socket to which senders on the node write instead of the word.
///
/// With several threads in MPI one of them, the leader, makes progress for all; the others sleep on
/// a word of their own. A thread that completes something causes the waiters' conditions to be
/// checked, under the lock, and wakes exactly those whose condition became true. A thread that
/// leaves while there is no leader wakes one of the others, which becomes the leader. The leader
/// releases the lock as soon as another thread waits for it. The library's own thread, if there is
/// one, never leads: see service.cc.
namespace fulmar::device {

base::Error Device::use_wake_socket() {
  auto socket = base::WakeSocket::open();
  if (socket.failed()) return socket.error();
  wake_socket_.emplace(std::move(*socket));
  if (node() != nullptr) node()->shm().use_wake_socket(*wake_socket_);
  return {};
}

/// Fills in what can end the sleep, and announces the sleep to the other ranks of the node.
void Device::prepare_sleep(SleepPlace& place) noexcept {
  if (node() != nullptr) {
    NodeChannel::Channel& channel = node()->channel();
    place.word = &channel.sleep_word();
    channel.announce_sleep(place.where);
    if (!outbox_.empty() || active_ != nullptr) {
      for (NodeChannel::Link* link : channel.links()) channel.want_credit(*link);
    }
  }
  if (network() != nullptr) {
    if (!network()->arm()) place.may_sleep = false;
    const std::int64_t due_ns = network()->next_deadline_ns();
    if (due_ns >= 0) place.due_ns = std::min(place.due_ns, due_ns);
    if (wake_socket_) place.add(network()->descriptor());
  }
  if (place.word != nullptr) fence_senders();
  service_.note_sleep(place.due_ns);
}

/// Clears the wake word: this process is awake.
void Device::finish_sleep() noexcept {
  if (node() != nullptr) node()->channel().announce_awake();
}

SleepEnd Device::sleep(WaitNote what, std::uint32_t quiet_sleeps) noexcept {
  if (failures_.look()) return SleepEnd::moved;
  if (config_.wait_style == WaitStyle::poll) {
    if (config_.observer.quiet != nullptr) report_quiet(what, quiet_sleeps);
    return SleepEnd::quiet;
  }
  SleepPlace place(wake_socket_ ? wire::Asleep::on_socket : wire::Asleep::on_word);
  if (wake_socket_) place.add(wake_socket_->descriptor());
  prepare_sleep(place);
  if (!place.can_be_left()) {
    ::sched_yield();
    return SleepEnd::quiet;
  }
  sleeping_ = true;
  SleepEnd end = progress(Look::at_all) != 0 ? SleepEnd::moved : SleepEnd::quiet;
  if (end == SleepEnd::quiet && place.may_sleep && !leader_ready()) {
    if (config_.observer.quiet != nullptr) report_quiet(what, quiet_sleeps);
    const base::TraceSpan span(config_.trace, "sleep");
    const std::uint64_t start = base::now_ns();
    const std::int64_t most_ns = place.limited(departures_.needed() ? SleepPlace::leaving_ns
                                               : quiet_sleeps <= 1  ? SleepPlace::first_ns
                                                                    : SleepPlace::longest_ns);
    const std::uint32_t depth = lock_.suspend();
    if (place.sleep(most_ns)) end = SleepEnd::woken;
    if (wake_socket_ && place.is_ready(0)) wake_socket_->drain();
    lock_.resume(depth);
    count_sleep(base::now_ns() - start);
  }
  sleeping_ = false;
  finish_sleep();
  return end;
}

/// Packets put before this are found by the poll that follows; later senders see the wake word.
void Device::fence_senders() noexcept {
  if (config_.has_membarrier &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
    give_up_membarrier();
  }
  if (!config_.has_membarrier) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Device::count_sleep(std::uint64_t slept_ns) noexcept {
  ++stats_.counters().sleeps;
  stats_.counters().sleep_ns += slept_ns;
  stats_.note(Event::Kind::slept, {0, config_.self, 0}, slept_ns);
}

/// Reports what is waited for, once the wait is not short any more.
void Device::report_quiet(WaitNote note, std::uint32_t quiet_sleeps) noexcept {
  if (quiet_sleeps <= 1) {
    quiet_since_ns_ = static_cast<std::int64_t>(base::now_ns());
    return;
  }
  // Networks may wake a sleeper early and often: see fabric/verbs/rings.h.
  if (static_cast<std::int64_t>(base::now_ns()) - quiet_since_ns_ < SleepPlace::first_ns) return;
  QuietWait wait{note, quiet_since_ns_, 1, lock_.enabled()};
  if (wait.many_threads) {
    wait.threads = 0;
    for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  }
  config_.observer.quiet(config_.observer.context, wait);
}

void Device::report_polling(WaitNote note) noexcept {
  QuietWait wait{note, poll_watch_.since_ns(), 1, lock_.enabled(), true};
  for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  config_.observer.quiet(config_.observer.context, wait);
}

/// A sandbox has denied it after the start. A packet that a sender puts before it sees the new word
/// can be missed once; SleepPlace::longest_ns bounds the delay.
void Device::give_up_membarrier() noexcept {
  config_.has_membarrier = false;
  if (node() != nullptr) node()->channel().require_sender_fence();
}

bool Device::leader_ready() noexcept {
  return leader_ != nullptr && leader_->finished(leader_->argument);
}

void Device::wait_with_threads(bool (*finished)(void*) noexcept, void* argument,
                               WaitNote note) noexcept {
  const base::TraceSpan span(config_.trace, "wait");
  Waiter self;
  self.finished = finished;
  self.argument = argument;
  self.note = note;
  std::uint32_t quiet_sleeps = 0;
  add_waiter(self);
  while (!finished(argument)) {
    if (leader_ == nullptr && !service_.takes_all()) {
      lead(self);
      if (settle_due_) settle();
      continue;
    }
    // Without a leader the library's own thread makes progress, and does not report this wait.
    const bool is_served = leader_ == nullptr;
    if (is_served) release_held();
    if (is_served && settle_due_) {
      settle();
      continue;
    }
    const std::uint32_t depth = lock_.suspend();
    base::futex_wait(self.signal, 0, base::FutexScope::process,
                     is_served ? SleepPlace::first_ns : -1);
    lock_.resume(depth);
    if (is_served && self.signal.load(std::memory_order_relaxed) == 0) {
      if (config_.observer.quiet != nullptr) report_quiet(note, ++quiet_sleeps);
      (void)failures_.look();
    }
    self.signal.store(0, std::memory_order_relaxed);
  }
  remove_waiter(self);
  release_held();
  // A thread that leaves makes sure that there is a leader: a successor that was woken may find its
  // own condition true and leave without ever having led.
  if (leader_ == nullptr && first_waiter_ != nullptr) signal(*first_waiter_);
}

/// Makes progress until this thread's condition holds or work is due that a leader must not do.
void Device::lead(Waiter& self) noexcept {
  leader_ = &self;
  service_.step_in(Service::Stay::until_step_out);
  Idle idle(config_.wait_style, config_.oversubscribed, yield_cost_);
  while (!self.finished(self.argument) && !settle_due_) {
    if (lock_.contended()) lock_.hand_over();
    if (progress() != 0) {
      idle.reset();
    } else if (idle.step() == Idle::Advice::sleep) {
      idle.note(sleep(self.note, idle.quiet_sleeps()));
    }
  }
  leader_ = nullptr;
  service_.step_out();
}

void Device::add_waiter(Waiter& waiter) noexcept {
  Waiter** end = &first_waiter_;
  while (*end != nullptr) end = &(*end)->next;
  *end = &waiter;
}

void Device::remove_waiter(Waiter& waiter) noexcept {
  for (Waiter** at = &first_waiter_; *at != nullptr; at = &(*at)->next) {
    if (*at == &waiter) {
      *at = waiter.next;
      return;
    }
  }
}

void Device::notify_waiters() noexcept {
  waiters_stale_ = settle_due_;
  for (Waiter* at = first_waiter_; at != nullptr; at = at->next) {
    if (at->finished(at->argument)) signal(*at);
  }
}

/// Something was queued that moves only with progress, maybe while the leader sleeps: then the
/// leader has not asked the peers to wake it when there is space for it.
void Device::wake_service() noexcept {
  if (sleeping_ && leader_ != nullptr) signal(*leader_);
  service_.wake();
}

void Device::signal(Waiter& waiter) noexcept {
  if (&waiter != leader_) {
    waiter.signal.store(1, std::memory_order_release);
    base::futex_wake(waiter.signal, 1, base::FutexScope::process);
    return;
  }
  if (!sleeping_) return;  // the leader polls anyway
  wake_self();
}

void Device::wake_self() noexcept {
  if (wake_socket_) return wake_socket_->ring(wake_socket_->name());
  if (node() != nullptr) node()->shm().wake(node()->shm().self());
}

}  // namespace fulmar::device
