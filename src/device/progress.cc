// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sched.h>

#include "channel/mapped_channel.inl"
#include "device/device.h"

namespace fulmar::device {
namespace {

/// Every so many looks: hand rings around, which is never urgent.
constexpr std::uint32_t balance_interval = 4096;

template <class Channel>
concept Balances = requires(Channel& channel) { channel.rings_polled(); };

}  // namespace

unsigned Device::progress() noexcept {
  if (in_progress_) [[unlikely]]
    return 0;  // called back from a completion
  in_progress_ = true;
  unsigned moved = 0;
  rails_.for_each([&](auto& channel) { moved += channel.get(*this); });
  if (!backlog_.empty()) [[unlikely]]
    moved += flush_backlog();
  if (active_ != nullptr) [[unlikely]]
    moved += advance_active();
  for (Hook* hook = hooks_; hook != nullptr; hook = next_hook_) {
    next_hook_ = hook->next;
    moved += hook->step(*hook);
  }
  if (++progress_calls_ % balance_interval == 0) [[unlikely]]
    balance();
  in_progress_ = false;
  if (waiters_stale_) [[unlikely]]
    finish_progress();
  return moved;
}

void Device::balance() noexcept {
  rails_.for_each_with_links([](auto& channel, auto& links) {
    if constexpr (Balances<std::remove_cvref_t<decltype(channel)>>) channel.balance(links);
  });
}

void Device::poll() noexcept {
  if (progress() != 0) {
    missed_polls_ = 0;
    return;
  }
  // Who calls test or probe in a loop waits. With more ranks than cores the one it waits for may
  // need this core; with a core of its own it may keep looking for a while.
  const std::uint32_t patience = config_.oversubscribed ? 2 : 10000;
  if (++missed_polls_ < patience) return;
  const std::uint32_t depth = lock_.suspend();
  ::sched_yield();
  lock_.resume(depth);
}

void Device::drain() noexcept {
  wait([&]() noexcept { return backlog_.empty() && unattended_ == 0; });
}

void Device::add_hook(Hook& hook) noexcept {
  hook.next = hooks_;
  hooks_ = &hook;
  if (!in_progress_) stir();
}

void Device::remove_hook(Hook& hook) noexcept {
  if (next_hook_ == &hook) next_hook_ = hook.next;
  for (Hook** at = &hooks_; *at != nullptr; at = &(*at)->next) {
    if (*at == &hook) {
      *at = hook.next;
      return;
    }
  }
}

}  // namespace fulmar::device
