// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
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
  if (progress_.running) [[unlikely]]
    return 0;  // called back from a completion
  progress_.running = true;
  unsigned moved = 0;
  if (node() != nullptr) [[likely]]
    moved += node()->get(*this);
  if (network() != nullptr) moved += poll_network(look);
  if (!outbox_.empty()) [[unlikely]]
    moved += outbox_.flush();
  if (!active_.empty()) [[unlikely]]
    moved += protocols_.advance_active();
  moved += callbacks_.run();
  if (++progress_calls_ % balance_interval == 0) [[unlikely]]
    balance();
  progress_.running = false;
  if (waiting_.stale()) [[unlikely]]
    waiting_.finish_progress();
  progress_.moved += moved;
  return moved;
}

unsigned Device::poll_network(Look look) noexcept {
  if (rdma_memory_.cache().has_events()) [[unlikely]]
    rdma_memory_.cache().settle();
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
  if (transports_.has_unsent()) waiting_.wake_service();
}

void Device::balance() noexcept {
  (void)failures_.look();
  if (rdma_memory_.transfers().live() != 0) rdma_.fail_lost();
  if (node() != nullptr) node()->channel().balance();
}

void Device::poll(WaitNote note) noexcept {
  service_.step_in(Service::Stay::once);
  if (service_.takes_all()) [[unlikely]] {
    release_held();
    waiting_.settle_if_due();
    if (lock_.contended()) lock_.hand_over();
  } else if (progress() != 0) {
    return waiting_.poll_moved();
  }
  waiting_.poll_missed(note);
}

void Device::drain() noexcept {
  cancelling_.begin_drain();
  wait([&]() noexcept { return !cancelling_.has_wanted_backlog() && unattended_ == 0; });
  cancelling_.end_drain();
}

void Device::add_progress_callback(ProgressCallback& hook) noexcept {
  callbacks_.add(hook);
  waiting_.wake_for_progress();
}

}  // namespace fulmar::device
