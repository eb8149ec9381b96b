// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "channel/mapped_channel.inl"
#include "device/device.h"

/// Who looks at the device from outside, and what that costs: nothing where short messages pass.
/// Counts are taken from numbers that the rings and queues keep for themselves. An observer hears
/// of unexpected messages through the compare that guards the memory budget: it lowers the limit of
/// that compare to 0, and what is behind it sorts out who wanted to know.
namespace fulmar::device {
namespace {

template <class Channel>
concept Counts = requires(Channel& channel) { channel.packets_received(); };

}  // namespace

void Device::observe(Observer* observer) noexcept {
  observer_ = observer;
  alarm_bytes_ = observer != nullptr ? 0 : config_.unexpected_budget_bytes;
  if (observer == nullptr) settle_due_ = false;
}

void Device::set_unexpected_budget(std::uint64_t bytes) noexcept {
  config_.unexpected_budget_bytes = bytes;
  observe(observer_);
  if (!held_senders_.empty()) release_senders();
}

void Device::over_alarm(const match::Key& key, std::uint64_t length) noexcept {
  note(Happening::Kind::unexpected, key, length);
  if (arrivals_.bytes_in_use() > config_.unexpected_budget_bytes) hold_sender(connect(key.peer));
}

void Device::tell(const Happening& happening) noexcept { observer_->note(*observer_, happening); }

void Device::count_announced(const Operation& send) noexcept {
  check_read_by_peer(send.buffer);
  ++counters_.rendezvous_sends;
  counters_.rendezvous_bytes += send.buffer.bytes;
  note(Happening::Kind::rendezvous, send.key(), send.buffer.bytes);
}

/// The rare end of a look at progress. A leader, on whom other threads wait, must not let the
/// observer call MPI before it has resigned (`wait_with_threads`), nor may a sleeper, nor a thread
/// that is not the program's.
void Device::finish_progress() noexcept {
  notify_waiters();
  if (!settle_due_ || leader_ != nullptr || sleeping_) return;
  if (service_.looks()) return service_.need_program();
  settle();
}

void Device::settle() noexcept {
  settle_due_ = false;
  waiters_stale_ = first_waiter_ != nullptr;
  if (observer_ != nullptr && observer_->settle != nullptr) observer_->settle(*observer_);
}

std::uint64_t Device::packets_sent() noexcept {
  std::uint64_t count = 0;
  rails_.for_each_with_links([&](auto& channel, auto& links) {
    if constexpr (Counts<std::remove_cvref_t<decltype(channel)>>) {
      for (auto* link : links) count += channel.packets_sent(*link);
    }
  });
  return count;
}

std::uint64_t Device::packets_received() noexcept {
  std::uint64_t count = 0;
  rails_.for_each([&](auto& channel) {
    if constexpr (Counts<std::remove_cvref_t<decltype(channel)>>) {
      count += channel.packets_received();
    }
  });
  return count;
}

std::size_t Device::rings_polled() noexcept {
  std::size_t count = 0;
  rails_.for_each([&](auto& channel) {
    if constexpr (Counts<std::remove_cvref_t<decltype(channel)>>) count += channel.rings_polled();
  });
  return count;
}

}  // namespace fulmar::device
