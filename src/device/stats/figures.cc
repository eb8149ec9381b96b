// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/device.h"

/// Statistics and observers, which cost the paths of short messages nothing.
/// Counts are taken from numbers that the rings and queues keep anyway. An observer gets
/// unexpected messages through the compare that guards the memory budget: it lowers the limit of
/// that compare to 0, and the slow path behind it distinguishes the two.
namespace fulmar::device {

void Device::observe(Observer* observer) noexcept {
  stats_.observe(observer);
  alarm_bytes_ = observer != nullptr ? 0 : config_.unexpected_budget_bytes;
  if (observer == nullptr) settle_due_ = false;
}

void Device::set_unexpected_budget(std::uint64_t bytes) noexcept {
  config_.unexpected_budget_bytes = bytes;
  observe(stats_.observer());
  if (flow_.holds_senders()) flow_.release_senders();
}

void Device::over_alarm(const match::Key& key, std::uint64_t length) noexcept {
  stats_.note(Event::Kind::unexpected, key, length);
  if (arrivals_.bytes_in_use() > config_.unexpected_budget_bytes)
    flow_.hold_sender(peers_.connect(key.peer));
}

/// The rare end of a progress call. A leader, on which other threads depend, must not let the
/// observer call MPI before it has resigned (`wait_with_threads`), nor may a sleeper, nor a thread
/// that does not belong to the program.
void Device::finish_progress() noexcept {
  notify_waiters();
  if (!settle_due_ || leader_ != nullptr || sleeping_) return;
  if (service_.polling()) return service_.need_program();
  settle();
}

void Device::settle() noexcept {
  settle_due_ = false;
  waiters_stale_ = first_waiter_ != nullptr;
  Observer* const observer = stats_.observer();
  if (observer != nullptr && observer->settle != nullptr) observer->settle(*observer);
}

std::uint64_t Device::packets_sent() noexcept {
  if (node() == nullptr) return 0;
  std::uint64_t count = 0;
  for (auto* link : node()->channel().links()) count += node()->channel().packets_sent(*link);
  return count;
}

std::uint64_t Device::packets_received() noexcept {
  return node() == nullptr ? 0 : node()->channel().packets_received();
}

std::size_t Device::rings_polled() noexcept {
  return node() == nullptr ? 0 : node()->channel().rings_polled();
}

}  // namespace fulmar::device
