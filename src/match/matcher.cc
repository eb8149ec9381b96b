// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "match/matcher.h"

#include <numeric>
#include <type_traits>

namespace fulmar::match {
namespace {

static_assert(std::is_standard_layout_v<Posted> && offsetof(Posted, in_order) == 0);
static_assert(std::is_standard_layout_v<Unexpected> && offsetof(Unexpected, in_order) == 0);

/// How many elements of a list are compared before it moves into the index. More neighbours than a
/// grid of three dimensions has.
constexpr int checks_before_index = 8;

constexpr unsigned kind_any_peer = 1;
constexpr unsigned kind_any_tag = 2;

unsigned kind_of(const Key& receive) noexcept {
  return (receive.peer == any_peer ? kind_any_peer : 0) |
         (receive.tag == any_tag ? kind_any_tag : 0);
}

/// The key of the receives of one kind that accept a message.
Key as_kind(const Key& message, unsigned kind) noexcept {
  return {message.context, (kind & kind_any_peer) != 0 ? any_peer : message.peer,
          (kind & kind_any_tag) != 0 ? any_tag : message.tag};
}

/// How many elements of a queue belong to a context.
template <class Element>
std::size_t count_of(const List& list, std::uint32_t context) noexcept {
  std::size_t count = 0;
  for (const ListNode* node = list.first(); node != list.end(); node = node->next) {
    count += reinterpret_cast<const Element*>(node)->key.context == context ? 1 : 0;
  }
  return count;
}

}  // namespace

Posted* Matcher::take_posted_slow(const Key& message) noexcept {
  Posted* found = find_posted(message);
  if (found != nullptr) remove(*found);
  return found;
}

Posted* Matcher::take_posted_out_of_turn(const Key& message) noexcept {
  Posted* found = find_posted(message);
  if (found == nullptr || found->key.tag == any_tag) return nullptr;
  remove(*found);
  return found;
}

Posted* Matcher::find_posted(const Key& message) noexcept {
  if (!posted_index_.empty()) {
    Posted* found = find_indexed_posted(message);
    if (found != nullptr) return found;
  }
  int checks = 0;
  for (ListNode* node = recent_posted_.first(); node != recent_posted_.end(); node = node->next) {
    if (++checks > checks_before_index) {
      index_posted();
      return find_indexed_posted(message);
    }
    Posted* posted = posted_of(node);
    if (posted->key.accepts(message)) return posted;
  }
  return nullptr;
}

/// Of each kind of receive the first with the key that fits, and of these the one posted first.
Posted* Matcher::find_indexed_posted(const Key& message) noexcept {
  Posted* best = nullptr;
  for (unsigned kind = 0; kind < indexed_kinds_.size(); ++kind) {
    if (indexed_kinds_[kind] == 0) continue;
    Posted* one = posted_index_.first(as_kind(message, kind), [](const Posted&) { return true; });
    if (one != nullptr && (best == nullptr || one->order < best->order)) best = one;
  }
  return best;
}

void Matcher::index_posted() noexcept {
  while (!recent_posted_.empty()) {
    Posted& receive = *posted_of(recent_posted_.first());
    List::remove(receive.in_order);
    indexed_posted_.append(receive.in_order);
    receive.order = next_order_++;
    ++indexed_kinds_[kind_of(receive.key)];
    posted_index_.add(receive);
  }
}

void Matcher::unindex(Posted& receive) noexcept {
  --indexed_kinds_[kind_of(receive.key)];
  posted_index_.remove(receive);
}

/// Whether a message that `receive` accepts may go to it.
bool Matcher::is_due(const Unexpected& message, const Key& receive) noexcept {
  if (!message.out_of_turn) return true;
  return receive.tag != any_tag && find_posted(message.key) == nullptr;
}

Unexpected* Matcher::find_unexpected_slow(const Key& receive) noexcept {
  if (!unexpected_index_.empty()) [[unlikely]] {
    Unexpected* found = find_indexed_unexpected(receive);
    if (found != nullptr) return found;
  }
  int checks = 0;
  for (ListNode* node = recent_unexpected_.first(); node != recent_unexpected_.end();
       node = node->next) {
    if (++checks > checks_before_index) {
      index_unexpected();
      return find_indexed_unexpected(receive);
    }
    Unexpected* message = unexpected_of(node);
    if (receive.accepts(message->key) && is_due(*message, receive)) return message;
  }
  return nullptr;
}

Unexpected* Matcher::find_indexed_unexpected(const Key& receive) noexcept {
  const auto due = [&](const Unexpected& message) { return is_due(message, receive); };
  switch (kind_of(receive)) {
    case 0:
      return unexpected_index_.first(receive, due);
    case kind_any_peer:
      return unexpected_tags_.first(receive, due);
    case kind_any_tag:
      return unexpected_peers_.first(receive, due);
    default:
      break;
  }
  for (ListNode* node = indexed_unexpected_.first(); node != indexed_unexpected_.end();
       node = node->next) {
    Unexpected* message = unexpected_of(node);
    if (receive.accepts(message->key) && is_due(*message, receive)) return message;
  }
  return nullptr;
}

void Matcher::index_unexpected() noexcept {
  while (!recent_unexpected_.empty()) {
    Unexpected& message = *unexpected_of(recent_unexpected_.first());
    List::remove(message.in_order);
    indexed_unexpected_.append(message.in_order);
    unexpected_index_.add(message);
    unexpected_peers_.add(message);
    unexpected_tags_.add(message);
  }
}

void Matcher::unindex(Unexpected& message) noexcept {
  unexpected_index_.remove(message);
  unexpected_peers_.remove(message);
  unexpected_tags_.remove(message);
}

Unexpected* Matcher::oldest_unexpected() noexcept {
  if (!indexed_unexpected_.empty()) return unexpected_of(indexed_unexpected_.first());
  return recent_unexpected_.empty() ? nullptr : unexpected_of(recent_unexpected_.first());
}

Unexpected* Matcher::next_unexpected(Unexpected& message) noexcept {
  ListNode* next = message.in_order.next;
  if (next == indexed_unexpected_.end()) next = recent_unexpected_.first();
  return next == recent_unexpected_.end() ? nullptr : unexpected_of(next);
}

std::size_t Matcher::posted_indexed() const noexcept {
  return std::accumulate(indexed_kinds_.begin(), indexed_kinds_.end(), std::size_t{0});
}

std::size_t Matcher::posted_of_context(std::uint32_t context) const noexcept {
  return count_of<Posted>(indexed_posted_, context) + count_of<Posted>(recent_posted_, context);
}

std::size_t Matcher::unexpected_of_context(std::uint32_t context) const noexcept {
  return count_of<Unexpected>(indexed_unexpected_, context) +
         count_of<Unexpected>(recent_unexpected_, context);
}

}  // namespace fulmar::match
