// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "match/matcher.h"

#include <type_traits>

namespace fulmar::match {
namespace {

static_assert(std::is_standard_layout_v<Posted> && offsetof(Posted, hook) == 0);
static_assert(std::is_standard_layout_v<Unexpected> && offsetof(Unexpected, by_peer) == 0);

Unexpected* from_peer_hook(Hook* hook) noexcept { return reinterpret_cast<Unexpected*>(hook); }
Unexpected* from_arrival_hook(Hook* hook) noexcept {
  return reinterpret_cast<Unexpected*>(reinterpret_cast<std::byte*>(hook) -
                                       offsetof(Unexpected, by_arrival));
}

bool fits(const Key& receive, const Unexpected& message) noexcept {
  return receive.accepts(message.key) && !(message.out_of_turn && receive.tag == any_tag);
}

}  // namespace

Posted* Matcher::take_posted_out_of_turn(const Key& message) noexcept {
  Posted* best = nullptr;
  const auto look = [&](HookList& list) {
    for (Hook* hook = list.first(); hook != list.end(); hook = hook->next) {
      Posted* posted = posted_of(hook);
      if (posted->key.tag == any_tag || !posted->key.accepts(message)) continue;
      if (best == nullptr || posted->order < best->order) best = posted;
      return;
    }
  };
  look(posted_[bucket(message)]);
  look(posted_any_);
  if (best != nullptr) remove(*best);
  return best;
}

Unexpected* Matcher::find_unexpected_slow(const Key& receive) noexcept {
  if (receive.peer == any_peer) {
    for (Hook* hook = arrivals_.first(); hook != arrivals_.end(); hook = hook->next) {
      if (fits(receive, *from_arrival_hook(hook))) return from_arrival_hook(hook);
    }
    return nullptr;
  }
  HookList& list = unexpected_[bucket(receive)];
  for (Hook* hook = list.first(); hook != list.end(); hook = hook->next) {
    if (fits(receive, *from_peer_hook(hook))) return from_peer_hook(hook);
  }
  return nullptr;
}

Unexpected* Matcher::oldest_unexpected() noexcept {
  return arrivals_.empty() ? nullptr : from_arrival_hook(arrivals_.first());
}

Unexpected* Matcher::next_unexpected(Unexpected& message) noexcept {
  Hook* next = message.by_arrival.next;
  return next == arrivals_.end() ? nullptr : from_arrival_hook(next);
}

}  // namespace fulmar::match
