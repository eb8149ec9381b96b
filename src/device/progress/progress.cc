// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sched.h>

#include "device/device.h"

namespace fulmar::device {
namespace {

/// Progress calls between two redistributions of rings, which are never urgent.
constexpr std::uint32_t balance_interval = 4096;
/// After so many polls without an event a network is polled at every `rare_poll_interval`th
/// progress call only.
constexpr std::uint32_t polls_before_rare = 1000;
constexpr std::uint32_t rare_poll_interval = 32;

}  // namespace

unsigned Device::progress(Look look) noexcept {
  if (in_progress_) [[unlikely]]
    return 0;  // called back from a completion
  in_progress_ = true;
  unsigned moved = 0;
  if (node() != nullptr) [[likely]]
    moved += node()->get(*this);
  if (network() != nullptr) moved += poll_network(look);
  if (!outbox_.empty()) [[unlikely]]
    moved += outbox_.flush();
  if (active_ != nullptr) [[unlikely]]
    moved += advance_active();
  moved += hooks_.run();
  if (++progress_calls_ % balance_interval == 0) [[unlikely]]
    balance();
  in_progress_ = false;
  if (waiters_stale_) [[unlikely]]
    finish_progress();
  moved_ += moved;
  return moved;
}

unsigned Device::poll_network(Look look) noexcept {
  if (memory_opener_.has_events()) [[unlikely]]
    memory_opener_.settle();
  const bool has_others = node() != nullptr && node()->has_peers();
  const bool due = look == Look::at_all || idle_polls_ < polls_before_rare || !has_others ||
                   progress_calls_ % rare_poll_interval == 0 || network()->has_unsent();
  if (!due) return 0;
  const unsigned moved = network()->poll(*this);
  idle_polls_ = moved != 0 ? 0 : idle_polls_ + (idle_polls_ < polls_before_rare ? 1 : 0);
  return moved;
}

/// Wakes a sleeping thread for packets that the network batches: they would stay until it wakes.
void Device::wake_for_held() noexcept {
  if (transports_.has_unsent()) wake_service();
}

void Device::balance() noexcept {
  (void)failures_.look();
  if (transfers_.live() != 0) fail_lost_transfers();
  if (node() != nullptr) node()->channel().balance();
}

void Device::poll(WaitNote note) noexcept {
  service_.step_in(Service::Stay::once);
  if (service_.takes_all()) [[unlikely]] {
    release_held();
    if (settle_due_) settle();
    if (lock_.contended()) lock_.hand_over();
  } else if (progress() != 0) {
    missed_polls_ = 0;
    return;
  }
  if (config_.observer.quiet != nullptr && poll_watch_.in_vain(moved_)) report_polling(note);
  // A rank that calls test or probe in a loop waits. With more ranks than cores its peer may
  // need this core; with a core of its own it may keep polling for a while.
  // There, other programs have it for milliseconds each time, which a program that
  // tests between pieces of its work pays with every test: it yields rarely then.
  const std::uint32_t patience = config_.oversubscribed ? 2 : 10000;
  if (++missed_polls_ < patience) return;
  const std::uint64_t begin_ns = config_.oversubscribed ? 0 : base::now_ns();
  if (!config_.oversubscribed && yield_cost_.is_high(begin_ns)) return;
  const std::uint32_t depth = lock_.suspend();
  ::sched_yield();
  lock_.resume(depth);
  if (config_.oversubscribed) return;
  const std::uint64_t end_ns = base::now_ns();
  yield_cost_.note(end_ns - begin_ns, end_ns);
}

void Device::drain() noexcept {
  ++departures_.drains;
  wait([&]() noexcept { return !has_wanted_backlog() && unattended_ == 0; });
  --departures_.drains;
}

void Device::add_progress_callback(ProgressCallback& hook) noexcept {
  hooks_.add(hook);
  if (!in_progress_) wake_service();
}

}  // namespace fulmar::device
