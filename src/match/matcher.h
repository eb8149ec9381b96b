// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "match/key.h"
#include "match/key_index.h"
#include "match/list_node.h"

/// The two queues of MPI matching (MPI 5.0, 3.5: non-overtaking).
///
/// Most of the time a queue is short, or its first element matches: then an ordered list is
/// fastest, since the first match in order is the result whatever wildcards there are. So both
/// queues are plain lists at first, and a search that would compare more than a few elements moves
/// all of them into an index by key; each moves at most once. A queue thus has two parts:
/// `indexed`, whose elements are older, and `recent`. The cost of a search does not depend on the
/// number of receives or messages of other tags and peers; only a receive of any source and any tag
/// may skip those of other communicators one by one.
namespace fulmar::match {

/// A receive that waits for its message. Lives inside the operation of its owner.
struct Posted {
  ListNode in_order;
  ListNode by_key;  ///< linked when indexed
  Key key;
  std::uint64_t order = 0;  ///< among the indexed ones

  [[nodiscard]] bool queued() const noexcept { return in_order.linked(); }
};

/// A message that arrived before its receive. Lives inside the record of its owner.
struct Unexpected {
  ListNode in_order;
  ListNode by_key;  ///< this and the next two linked when indexed
  ListNode by_peer;
  ListNode by_tag;
  Key key;
  /// Older messages of other tags may still come from its sender. They belong to the receives of
  /// any tag, so the message goes to a receive of its tag before which none of any tag was posted.
  bool out_of_turn = false;
};

/// Knows no communicator and owns nothing. Not thread-safe: the engine's lock.
class Matcher {
 public:
  /// The receive posted first that accepts `message`, taken off the queue; nullptr if there is
  /// none.
  [[nodiscard]] Posted* take_posted(const Key& message) noexcept {
    if (posted_count_ == 0) return nullptr;
    Posted* first = posted_of(recent_posted_.first());
    if (!posted_index_.empty() || !first->key.accepts(message)) [[unlikely]]
      return take_posted_slow(message);
    --posted_count_;
    List::remove(first->in_order);
    return first;
  }

  /// The same for a message that is out of turn: nullptr if that receive is of any tag. Such a
  /// message is asked for again whenever a receive of any tag left the queue.
  [[nodiscard]] Posted* take_posted_out_of_turn(const Key& message) noexcept;

  /// Queues a receive whose key is set.
  void post(Posted& receive) noexcept {
    ++posted_count_;
    recent_posted_.append(receive.in_order);
  }
  void remove(Posted& receive) noexcept {
    --posted_count_;
    List::remove(receive.in_order);
    if (receive.by_key.linked()) [[unlikely]]
      unindex(receive);
  }

  /// The message that arrived first among those which `receive` accepts, left on the queue.
  [[nodiscard]] Unexpected* find_unexpected(const Key& receive) noexcept {
    if (unexpected_count_ == 0) return nullptr;
    return find_unexpected_slow(receive);
  }
  void add(Unexpected& message) noexcept {
    ++unexpected_count_;
    recent_unexpected_.append(message.in_order);
  }
  void remove(Unexpected& message) noexcept {
    --unexpected_count_;
    List::remove(message.in_order);
    if (message.by_key.linked()) [[unlikely]]
      unindex(message);
  }

  [[nodiscard]] std::size_t posted_count() const noexcept { return posted_count_; }
  [[nodiscard]] std::size_t unexpected_count() const noexcept { return unexpected_count_; }
  /// Receives that are in the index, and how many ever were.
  [[nodiscard]] std::size_t posted_indexed() const noexcept;
  [[nodiscard]] std::uint64_t posted_indexed_ever() const noexcept { return next_order_; }
  /// How many elements of the queues belong to one context. Walks the queues.
  [[nodiscard]] std::size_t posted_of_context(std::uint32_t context) const noexcept;
  [[nodiscard]] std::size_t unexpected_of_context(std::uint32_t context) const noexcept;

  /// The oldest unexpected message, for cleaning up; nullptr if there is none.
  [[nodiscard]] Unexpected* oldest_unexpected() noexcept;
  /// The one that arrived after `message`; nullptr if none did.
  [[nodiscard]] Unexpected* next_unexpected(Unexpected& message) noexcept;
  /// Calls `visit(Posted&)` for every queued receive in the order of posting; `visit` may remove
  /// the one it is given.
  template <class Visit>
  void for_each_posted(Visit visit) noexcept {
    visit_list(indexed_posted_, visit);
    visit_list(recent_posted_, visit);
  }

 private:
  static Key whole(const Key& key) noexcept { return key; }
  static Key peer_part(const Key& key) noexcept { return {key.context, key.peer, 0}; }
  static Key tag_part(const Key& key) noexcept { return {key.context, 0, key.tag}; }

  static Posted* posted_of(ListNode* node) noexcept { return reinterpret_cast<Posted*>(node); }
  static Unexpected* unexpected_of(ListNode* node) noexcept {
    return reinterpret_cast<Unexpected*>(node);
  }

  [[gnu::noinline]] Posted* take_posted_slow(const Key& message) noexcept;
  Posted* find_posted(const Key& message) noexcept;
  Posted* find_indexed_posted(const Key& message) noexcept;
  bool is_due(const Unexpected& message, const Key& receive) noexcept;
  Unexpected* find_unexpected_slow(const Key& receive) noexcept;
  Unexpected* find_indexed_unexpected(const Key& receive) noexcept;
  void index_posted() noexcept;
  void index_unexpected() noexcept;
  [[gnu::noinline]] void unindex(Posted& receive) noexcept;
  [[gnu::noinline]] void unindex(Unexpected& message) noexcept;

  template <class Visit>
  static void visit_list(List& list, Visit& visit) noexcept {
    for (ListNode* node = list.first(); node != list.end();) {
      ListNode* next = node->next;
      visit(*posted_of(node));
      node = next;
    }
  }

  std::size_t posted_count_ = 0;
  std::size_t unexpected_count_ = 0;
  List recent_posted_;
  List recent_unexpected_;
  List indexed_posted_;
  List indexed_unexpected_;
  std::uint64_t next_order_ = 0;
  /// Indexed receives by their wildcards; see `kind_of`.
  std::array<std::size_t, 4> indexed_kinds_{};
  KeyIndex<Posted, offsetof(Posted, by_key), whole> posted_index_;
  KeyIndex<Unexpected, offsetof(Unexpected, by_key), whole> unexpected_index_;
  KeyIndex<Unexpected, offsetof(Unexpected, by_peer), peer_part> unexpected_peers_;
  KeyIndex<Unexpected, offsetof(Unexpected, by_tag), tag_part> unexpected_tags_;
};

}  // namespace fulmar::match
