// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/matching/early_arrivals.h"

#include <algorithm>

namespace fulmar::device {

/// The message is queued behind the older ones, and early ones that are still out of order behind it.
void EarlyArrivals::on_settled(Peer& peer, const wire::SettledBody& news,
                               const match::Key& key) noexcept {
  const auto is_of_context = [&](const Arrival* arrival) {
    return arrival->key().peer == peer.id && arrival->key().context == key.context;
  };
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Arrival* arrival) {
    return is_of_context(arrival) && arrival->order == news.order;
  });
  if (found == waiting_.end()) return;  // received meanwhile
  Arrival& settled = **found;
  take_arrival(parts_.matcher, *this, settled);
  settled.unexpected.out_of_turn = false;
  if (match::Posted* posted = parts_.matcher.take_posted(settled.key()); posted != nullptr) {
    return owner_.receive(owner_.context, *operation_of(posted), settled);
  }
  parts_.matcher.add(settled.unexpected);
  for (Arrival* other : waiting_) {
    if (!is_of_context(other)) continue;
    parts_.matcher.remove(other->unexpected);
    parts_.matcher.add(other->unexpected);
  }
}

void EarlyArrivals::add(Arrival& arrival) noexcept {
  if (waiting_.empty()) {
    step = [](ProgressCallback& hook) { return static_cast<EarlyArrivals&>(hook).match(); };
    parts_.callbacks.add(*this);
    parts_.waiting.wake_for_progress();
  }
  waiting_.push_back(&arrival);
}

void EarlyArrivals::forget(const Arrival& arrival) noexcept {
  std::erase(waiting_, &arrival);
  if (waiting_.empty()) parts_.callbacks.remove(*this);
}

/// In the order of their arrival: two of one tag stay in order.
unsigned EarlyArrivals::match() noexcept {
  unsigned matched = 0;
  for (std::size_t i = 0; i < waiting_.size();) {
    Arrival& arrival = *waiting_[i];
    match::Posted* posted = parts_.matcher.take_posted_out_of_turn(arrival.key());
    if (posted == nullptr) {
      ++i;
      continue;
    }
    take_arrival(parts_.matcher, *this, arrival);
    owner_.receive(owner_.context, *operation_of(posted), arrival);
    ++matched;
  }
  return matched;
}

}  // namespace fulmar::device
