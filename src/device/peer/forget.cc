// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "device/device.h"

/// Processes of other jobs with which this one has nothing in common any more.
namespace fulmar::device {

bool Failures::is_in_use(const Peer& peer) noexcept {
  const bool has_parts = peer.mapped() || peer.kept_by_peer || peer.in_backlog ||
                         peer.arriving != nullptr || !peer.queue.empty() || !peer.kept.empty();
  const bool has_questions = !peer.asks.empty() || !peer.early.empty() || !peer.probed.empty() ||
                             peer.cancel_requested.unanswered != 0;
  if (has_parts || has_questions) return true;
  bool found = false;
  for (const Operation* at = device_.active_.first(); at != nullptr && !found;
       at = at->next_active) {
    found = at->peer == &peer;
  }
  device_.operations_.all_named().for_each(
      [&](const Operation& operation) { found = found || operation.peer == &peer; });
  device_.matcher_.for_each_posted(
      [&](const match::Posted& posted) { found = found || posted.key.peer == peer.id; });
  match::Unexpected* at = device_.matcher_.oldest_unexpected();
  for (; at != nullptr && !found; at = device_.matcher_.next_unexpected(*at)) {
    found = Arrival::of(at)->key().peer == peer.id;
  }
  return found;
}

bool Failures::forget(std::uint32_t id) noexcept {
  const Peer* const peer = device_.peers_.find(id);
  if (pending() || (peer != nullptr && is_in_use(*peer))) return false;
  if (peer != nullptr) device_.peers_.remove(*peer);
  ended_ -= static_cast<std::size_t>(
      std::erase_if(failed_, [&](const Failed& one) { return one.peer == id; }));
  update_receive_checks();
  return true;
}

}  // namespace fulmar::device
