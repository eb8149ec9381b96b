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
  if (observer == nullptr) waiting_.forget_deferred();
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
