// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "device/device.h"

/// Messages that were announced out of order: see device/flow/flow_control.cc.
namespace fulmar::device {

/// All messages that are older than an early one have arrived: it is queued behind them, and early
/// ones that are still out of order behind it.
void Device::on_settled(Peer& peer, const wire::SettledBody& news, const match::Key& key) noexcept {
  const auto is_of_context = [&](const Arrival* arrival) {
    return arrival->key().peer == peer.id && arrival->key().context == key.context;
  };
  const auto found =
      std::find_if(early_.waiting.begin(), early_.waiting.end(), [&](const Arrival* arrival) {
        return is_of_context(arrival) && arrival->order == news.order;
      });
  if (found == early_.waiting.end()) return;  // received meanwhile
  Arrival& settled = **found;
  take_arrival(settled);
  settled.unexpected.out_of_turn = false;
  if (match::Posted* posted = matcher_.take_posted(settled.key()); posted != nullptr) {
    return receive_arrival(*operation_of(posted), settled);
  }
  matcher_.add(settled.unexpected);
  for (Arrival* other : early_.waiting) {
    if (!is_of_context(other)) continue;
    matcher_.remove(other->unexpected);
    matcher_.add(other->unexpected);
  }
}

void Device::await_turn(Arrival& arrival) noexcept {
  if (early_.waiting.empty()) {
    early_.device = this;
    early_.step = [](ProgressCallback& hook) {
      return static_cast<EarlyArrivals&>(hook).device->match_early();
    };
    add_progress_callback(early_);
  }
  early_.waiting.push_back(&arrival);
}

void Device::forget_turn(const Arrival& arrival) noexcept {
  std::erase(early_.waiting, &arrival);
  if (early_.waiting.empty()) remove_progress_callback(early_);
}

/// Matches early messages with receives that no receive of any tag precedes any more. In the
/// order of their arrival: two of one tag stay in order.
unsigned Device::match_early() noexcept {
  unsigned matched = 0;
  for (std::size_t i = 0; i < early_.waiting.size();) {
    Arrival& arrival = *early_.waiting[i];
    match::Posted* posted = matcher_.take_posted_out_of_turn(arrival.key());
    if (posted == nullptr) {
      ++i;
      continue;
    }
    take_arrival(arrival);
    receive_arrival(*operation_of(posted), arrival);
    ++matched;
  }
  return matched;
}

}  // namespace fulmar::device
