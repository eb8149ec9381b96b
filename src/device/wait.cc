// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/futex.h"
#include "channel/mapped_channel.inl"
#include "device/device.h"

/// Sleeping, and waiting with several threads.
///
/// Sleep without a lost wake-up and without a fence in the sender: the sleeper sets its wake word,
/// makes every processor that runs a rank pass a barrier (membarrier, which costs the sleeper some
/// microseconds and the senders nothing), and looks once more. A sender that had put its packet
/// before the barrier is seen by this look; one that puts it later sees the wake word. Where
/// membarrier is denied, the senders fence.
///
/// Where networks are in use too, the sleeper waits in one ppoll for their descriptors and for a
/// socket that senders on the node ring instead of the word.
///
/// With several threads in MPI one of them, the leader, makes progress for all; the others sleep on
/// a word of their own. Whoever completes something lets the waiters' conditions be checked, under
/// the lock, and wakes exactly those whose condition became true. Who leaves while
/// nobody leads wakes one of the others, who leads then. The leader gives the lock away as soon as
/// a thread stands at it.
namespace fulmar::device {
namespace {

/// Nothing is meant to be missed; if it is, this bounds the damage.
constexpr std::int64_t longest_sleep_ns = 1'000'000'000;
/// After the first sleep the observer learns what is waited for.
constexpr std::int64_t first_sleep_ns = 200'000'000;
/// Nobody wakes this process when a peer leaves that it has asked for a message back, or for which
/// something is queued.
constexpr std::int64_t leaving_sleep_ns = 20'000'000;

template <class Channel>
concept Sleeps = requires(Channel& channel) { channel.sleep_word(); };

/// Sleeps until the wake socket or one of the networks has something.
void sleep_on(const base::WakeSocket& socket, std::span<pollfd> ready,
              std::int64_t most_ns) noexcept {
  ready[0] = {socket.descriptor(), POLLIN, 0};
  const timespec time{static_cast<time_t>(most_ns / 1'000'000'000), most_ns % 1'000'000'000};
  if (::ppoll(ready.data(), ready.size(), &time, nullptr) > 0 && ready[0].revents != 0) {
    socket.drain();
  }
}

}  // namespace

base::Error Device::use_wake_socket() {
  auto socket = base::WakeSocket::open();
  if (socket.failed()) return socket.error();
  wake_socket_.emplace(std::move(*socket));
  rails_.for_each([&](auto& channel) {
    if constexpr (Sleeps<std::remove_cvref_t<decltype(channel)>>) {
      if constexpr (requires { channel.provider().use_wake_socket(*wake_socket_); }) {
        channel.provider().use_wake_socket(*wake_socket_);
      }
    }
  });
  return {};
}

/// True if something moved.
bool Device::sleep(WaitNote what, std::uint32_t quiet_sleeps) noexcept {
  std::atomic<std::uint32_t>* word = nullptr;
  std::array<pollfd, 1 + EnabledRails::provider_count> ready{};
  std::size_t networks = 0;
  bool may_sleep = true;
  std::int64_t due_ns = INT64_MAX;  // when a network wants to be looked at again
  const auto where = wake_socket_ ? wire::Asleep::on_socket : wire::Asleep::on_word;
  rails_.for_each_with_links([&](auto& channel, auto& links) {
    using Channel = std::remove_cvref_t<decltype(channel)>;
    if constexpr (Sleeps<Channel>) {
      word = &channel.sleep_word();
      channel.announce_sleep(where);
      if (!backlog_.empty() || active_ != nullptr) {
        for (auto* link : links) channel.want_credit(*link);
      }
    } else if constexpr (sleeps_on_descriptor<Channel>) {
      auto& provider = channel.provider();
      if (!provider.arm()) may_sleep = false;
      if (provider.next_deadline_ns() >= 0) due_ns = std::min(due_ns, provider.next_deadline_ns());
      ready[++networks] = {provider.descriptor(), POLLIN, 0};
    }
  });
  if (word == nullptr && !wake_socket_) {
    ::sched_yield();
    return false;
  }
  if (word != nullptr) fence_senders();
  sleeping_ = true;
  const bool moved = progress(Look::at_all) != 0;
  if (!moved && may_sleep && !leader_ready()) {
    if (config_.observer.quiet != nullptr) tell_quiet(what, quiet_sleeps);
    const base::TraceSpan span(config_.trace, "sleep");
    const std::uint64_t start = base::now_ns();
    const std::int64_t longest_ns = leavers_.needed()   ? leaving_sleep_ns
                                    : quiet_sleeps <= 1 ? first_sleep_ns
                                                        : longest_sleep_ns;
    const std::int64_t most_ns =
        std::clamp<std::int64_t>(due_ns - static_cast<std::int64_t>(start), 0, longest_ns);
    const std::uint32_t depth = lock_.suspend();
    if (wake_socket_) {
      sleep_on(*wake_socket_, std::span(ready).first(networks + 1), most_ns);
    } else {
      base::futex_wait(*word, static_cast<std::uint32_t>(where), base::FutexScope::shared, most_ns);
    }
    lock_.resume(depth);
    count_sleep(base::now_ns() - start);
  }
  sleeping_ = false;
  if (word != nullptr) word->store(0, std::memory_order_relaxed);
  return moved;
}

/// What senders put before this is seen by the look that follows; later ones see the wake word.
void Device::fence_senders() noexcept {
  if (config_.has_membarrier &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
    give_up_membarrier();
  }
  if (!config_.has_membarrier) std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Device::count_sleep(std::uint64_t slept_ns) noexcept {
  ++counters_.sleeps;
  counters_.sleep_ns += slept_ns;
  note(Happening::Kind::slept, {0, config_.self, 0}, slept_ns);
}

/// Tells what is waited for, once it is more than a short wait.
void Device::tell_quiet(WaitNote note, std::uint32_t quiet_sleeps) noexcept {
  if (quiet_sleeps <= 1) {
    quiet_since_ns_ = static_cast<std::int64_t>(base::now_ns());
    return;
  }
  QuietWait wait{note, quiet_since_ns_, 1, lock_.enabled()};
  if (wait.many_threads) {
    wait.threads = 0;
    for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  }
  config_.observer.quiet(config_.observer.context, wait);
}

void Device::tell_polling(WaitNote note) noexcept {
  QuietWait wait{note, poll_watch_.since_ns(), 1, lock_.enabled()};
  for (const Waiter* at = first_waiter_; at != nullptr; at = at->next) ++wait.threads;
  config_.observer.quiet(config_.observer.context, wait);
}

/// A sandbox took it away after the start. What a sender does before it sees the new word can be
/// missed once; `longest_sleep_ns` bounds that.
void Device::give_up_membarrier() noexcept {
  config_.has_membarrier = false;
  rails_.for_each([](auto& channel) {
    if constexpr (Sleeps<std::remove_cvref_t<decltype(channel)>>) channel.require_sender_fence();
  });
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
  add_waiter(self);
  while (!finished(argument)) {
    if (leader_ == nullptr) {
      lead(self);
      if (settle_due_) settle();
      continue;
    }
    const std::uint32_t depth = lock_.suspend();
    base::futex_wait(self.signal, 0, base::FutexScope::process);
    lock_.resume(depth);
    self.signal.store(0, std::memory_order_relaxed);
  }
  remove_waiter(self);
  release_held();
  // Whoever leaves makes sure that somebody leads: a successor that was woken may find its own
  // condition true and leave without ever having led.
  if (leader_ == nullptr && first_waiter_ != nullptr) signal(*first_waiter_);
}

/// Makes progress until the own condition holds or something waits for a thread that does not lead.
void Device::lead(Waiter& self) noexcept {
  leader_ = &self;
  Idle idle(config_.oversubscribed);
  while (!self.finished(self.argument) && !settle_due_) {
    if (lock_.contended()) lock_.hand_over();
    if (progress() != 0) {
      idle.reset();
    } else if (idle.step() == Idle::Advice::sleep) {
      if (sleep(self.note, idle.quiet_sleeps())) idle.reset();
    }
  }
  leader_ = nullptr;
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

/// Something was queued that moves only with progress, maybe while the leader sleeps: then it was
/// not there when the leader asked the peers to wake it for the room that this needs.
void Device::stir() noexcept {
  if (sleeping_ && leader_ != nullptr) signal(*leader_);
}

void Device::signal(Waiter& waiter) noexcept {
  if (&waiter != leader_) {
    waiter.signal.store(1, std::memory_order_release);
    base::futex_wake(waiter.signal, 1, base::FutexScope::process);
    return;
  }
  if (!sleeping_) return;  // it looks by itself
  if (wake_socket_) return wake_socket_->ring(wake_socket_->name());
  rails_.for_each([](auto& channel) {
    if constexpr (Sleeps<std::remove_cvref_t<decltype(channel)>>) {
      channel.provider().wake(channel.provider().self());
    }
  });
}

}  // namespace fulmar::device
