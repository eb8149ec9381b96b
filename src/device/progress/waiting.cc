// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/progress/waiting.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/os/futex.h"
#include "device/flow/outbox.h"
#include "device/peer/failures.h"
#include "device/progress/sleep_place.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/cancelling.h"
#include "device/service.h"

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

base::Error Waiting::use_wake_socket() {
  auto socket = base::WakeSocket::open();
  if (socket.failed()) return socket.error();
  wake_socket_.emplace(std::move(*socket));
  if (node() != nullptr) node()->shm().use_wake_socket(*wake_socket_);
  return {};
}

void Waiting::prepare_sleep(SleepPlace& place) noexcept {
  if (node() != nullptr) {
    NodeChannel::Channel& channel = node()->channel();
    place.word = &channel.sleep_word();
    channel.announce_sleep(place.where);
    if (!parts_.outbox.empty() || !parts_.active.empty()) {
      for (NodeChannel::Link* link : channel.links()) channel.want_credit(*link);
    }
  }
  if (fabric::Network* const network = parts_.transports.network(); network != nullptr) {
    if (!network->arm()) place.may_sleep = false;
    const std::int64_t due_ns = network->next_deadline_ns();
    if (due_ns >= 0) place.due_ns = std::min(place.due_ns, due_ns);
    if (wake_socket_) place.add(network->descriptor());
  }
  if (place.word != nullptr) fence_senders();
  parts_.service.note_sleep(place.due_ns);
}

void Waiting::finish_sleep() noexcept {
  if (node() != nullptr) node()->channel().announce_awake();
}

SleepEnd Waiting::sleep(WaitNote what, std::uint32_t quiet_sleeps) noexcept {
  if (parts_.failures.look()) return SleepEnd::moved;
  if (parts_.config.wait_style == WaitStyle::poll) {
    if (parts_.config.observer.quiet != nullptr) report_quiet(what, quiet_sleeps);
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
    if (parts_.config.observer.quiet != nullptr) report_quiet(what, quiet_sleeps);
    const base::TraceSpan span(parts_.config.trace, "sleep");
    const std::uint64_t start = base::now_ns();
    const std::int64_t most_ns = place.limited(parts_.cancelling.needed() ? SleepPlace::leaving_ns
                                               : quiet_sleeps <= 1        ? SleepPlace::first_ns
                                                                          : SleepPlace::longest_ns);
    const std::uint32_t depth = parts_.lock.suspend();
    if (place.sleep(most_ns)) end = SleepEnd::woken;
    if (wake_socket_ && place.is_ready(0)) wake_socket_->drain();
    parts_.lock.resume(depth);
    count_sleep(base::now_ns() - start);
  }
  sleeping_ = false;
  finish_sleep();
  return end;
}

/// Packets put before this are found by the poll that follows; later senders see the wake word.
void Waiting::fence_senders() noexcept {
  if (parts_.config.has_membarrier &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
    give_up_membarrier();
  }
  if (!parts_.config.has_membarrier) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Waiting::count_sleep(std::uint64_t slept_ns) noexcept {
  ++parts_.stats.counters().sleeps;
  parts_.stats.counters().sleep_ns += slept_ns;
  parts_.stats.note(Event::Kind::slept, {0, parts_.config.self, 0}, slept_ns);
}

/// Reports what is waited for, once the wait is not short any more.
void Waiting::report_quiet(WaitNote note, std::uint32_t quiet_sleeps) noexcept {
  if (quiet_sleeps <= 1) {
    quiet_since_ns_ = static_cast<std::int64_t>(base::now_ns());
    return;
  }
  // Networks may wake a sleeper early and often: see fabric/verbs/rings.h.
  if (static_cast<std::int64_t>(base::now_ns()) - quiet_since_ns_ < SleepPlace::first_ns) return;
  QuietWait wait{note, quiet_since_ns_, 1, parts_.lock.enabled()};
  if (wait.many_threads) {
    wait.threads = 0;
    for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  }
  parts_.config.observer.quiet(parts_.config.observer.context, wait);
}

void Waiting::report_polling(WaitNote note) noexcept {
  QuietWait wait{note, poll_watch_.since_ns(), 1, parts_.lock.enabled(), true};
  for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  parts_.config.observer.quiet(parts_.config.observer.context, wait);
}

/// A sandbox has denied it after the start. A packet that a sender puts before it sees the new word
/// can be missed once; SleepPlace::longest_ns bounds the delay.
void Waiting::give_up_membarrier() noexcept {
  parts_.config.has_membarrier = false;
  if (node() != nullptr) node()->channel().require_sender_fence();
}

bool Waiting::leader_ready() noexcept {
  return leader_ != nullptr && leader_->finished(leader_->argument);
}

void Waiting::wait_with_threads(bool (*finished)(void*) noexcept, void* argument,
                                WaitNote note) noexcept {
  const base::TraceSpan span(parts_.config.trace, "wait");
  Waiter self;
  self.finished = finished;
  self.argument = argument;
  self.note = note;
  std::uint32_t quiet_sleeps = 0;
  add_waiter(self);
  while (!finished(argument)) {
    if (leader_ == nullptr && !parts_.service.takes_all()) {
      lead(self);
      if (settle_due_) settle();
      continue;
    }
    // Without a leader the library's own thread makes progress, and does not report this wait.
    const bool is_served = leader_ == nullptr;
    if (is_served) parts_.transports.flush();
    if (is_served && settle_due_) {
      settle();
      continue;
    }
    const std::uint32_t depth = parts_.lock.suspend();
    base::futex_wait(self.signal, 0, base::FutexScope::process,
                     is_served ? SleepPlace::first_ns : -1);
    parts_.lock.resume(depth);
    if (is_served && self.signal.load(std::memory_order_relaxed) == 0) {
      if (parts_.config.observer.quiet != nullptr) report_quiet(note, ++quiet_sleeps);
      (void)parts_.failures.look();
    }
    self.signal.store(0, std::memory_order_relaxed);
  }
  remove_waiter(self);
  parts_.transports.flush();
  // A thread that leaves makes sure that there is a leader: a successor that was woken may find its
  // own condition true and leave without ever having led.
  if (leader_ == nullptr && first_waiter_ != nullptr) signal(*first_waiter_);
}

/// Makes progress until this thread's condition holds or work is due that a leader must not do.
void Waiting::lead(Waiter& self) noexcept {
  leader_ = &self;
  parts_.service.step_in(Service::Stay::until_step_out);
  Idle idle(parts_.config.wait_style, parts_.config.oversubscribed, yield_cost_);
  while (!self.finished(self.argument) && !settle_due_) {
    if (parts_.lock.contended()) parts_.lock.hand_over();
    if (progress(Look::as_due) != 0) {
      idle.reset();
    } else if (idle.step() == Idle::Advice::sleep) {
      idle.note(sleep(self.note, idle.quiet_sleeps()));
    }
  }
  leader_ = nullptr;
  parts_.service.step_out();
}

void Waiting::add_waiter(Waiter& waiter) noexcept {
  Waiter** end = &first_waiter_;
  while (*end != nullptr) end = &(*end)->next;
  *end = &waiter;
}

void Waiting::remove_waiter(Waiter& waiter) noexcept {
  for (Waiter** at = &first_waiter_; *at != nullptr; at = &(*at)->next) {
    if (*at == &waiter) {
      *at = waiter.next;
      return;
    }
  }
}

void Waiting::notify_waiters() noexcept {
  waiters_stale_ = settle_due_;
  for (Waiter* at = first_waiter_; at != nullptr; at = at->next) {
    if (at->finished(at->argument)) signal(*at);
  }
}

/// A leader that sleeps has not asked the peers to wake it when there is space for it.
void Waiting::wake_service() noexcept {
  if (sleeping_ && leader_ != nullptr) signal(*leader_);
  parts_.service.wake();
}

void Waiting::signal(Waiter& waiter) noexcept {
  if (&waiter != leader_) {
    waiter.signal.store(1, std::memory_order_release);
    base::futex_wake(waiter.signal, 1, base::FutexScope::process);
    return;
  }
  if (!sleeping_) return;  // the leader polls anyway
  wake_self();
}

/// A leader, on which other threads depend, must not let the observer call MPI before it has resigned
/// (`wait_with_threads`), nor may a sleeper, nor a thread that does not belong to the program.
void Waiting::finish_progress() noexcept {
  notify_waiters();
  if (!settle_due_ || leader_ != nullptr || sleeping_) return;
  if (parts_.service.polling()) return parts_.service.need_program();
  settle();
}

void Waiting::settle() noexcept {
  settle_due_ = false;
  waiters_stale_ = first_waiter_ != nullptr;
  Observer* const observer = parts_.stats.observer();
  if (observer != nullptr && observer->settle != nullptr) observer->settle(*observer);
}

/// A rank that calls test or probe in a loop waits. With more ranks than cores its peer may need this
/// core; with a core of its own it may keep polling for a while. There, other programs have it for
/// milliseconds each time, which a program that tests between pieces of its work pays with every test:
/// it yields rarely then.
void Waiting::poll_missed(WaitNote note) noexcept {
  const Config& config = parts_.config;
  if (config.observer.quiet != nullptr && poll_watch_.in_vain(parts_.progress.moved))
    report_polling(note);
  const std::uint32_t patience = config.oversubscribed ? 2 : 10000;
  if (++missed_polls_ < patience) return;
  const std::uint64_t begin_ns = config.oversubscribed ? 0 : base::now_ns();
  if (!config.oversubscribed && yield_cost_.is_high(begin_ns)) return;
  const std::uint32_t depth = parts_.lock.suspend();
  ::sched_yield();
  parts_.lock.resume(depth);
  if (config.oversubscribed) return;
  const std::uint64_t end_ns = base::now_ns();
  yield_cost_.note(end_ns - begin_ns, end_ns);
}

void Waiting::drop_wake_socket() noexcept {
  if (!wake_socket_) return;
  if (node() != nullptr) node()->shm().forget_wake_socket();
  wake_socket_.reset();
}

void Waiting::wake_self() noexcept {
  if (wake_socket_) return wake_socket_->ring(wake_socket_->name());
  if (node() != nullptr) node()->shm().wake(node()->shm().self());
}

}  // namespace fulmar::device
