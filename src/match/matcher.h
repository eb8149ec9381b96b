// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fulmar::match {

inline constexpr std::uint32_t any_peer = 0xffffffff;
inline constexpr std::int32_t any_tag = -2147483647 - 1;

/// What a message carries and what a receive asks for. A receive may have `any_peer` and `any_tag`.
struct Key {
  std::uint32_t context = 0;
  std::uint32_t peer = 0;
  std::int32_t tag = 0;

  /// Whether a message with `message` as its key fits a receive with this key.
  [[nodiscard]] constexpr bool accepts(const Key& message) const noexcept {
    return context == message.context && (peer == message.peer || peer == any_peer) &&
           (tag == message.tag || tag == any_tag);
  }
};

struct Hook {
  Hook* next = nullptr;
  Hook* previous = nullptr;
};

/// A circular list of hooks with a sentinel.
class HookList {
 public:
  HookList() noexcept { clear(); }
  HookList(const HookList&) = delete;
  HookList& operator=(const HookList&) = delete;

  void clear() noexcept { head_.next = head_.previous = &head_; }
  [[nodiscard]] bool empty() const noexcept { return head_.next == &head_; }
  void append(Hook& hook) noexcept {
    hook.previous = head_.previous;
    hook.next = &head_;
    head_.previous->next = &hook;
    head_.previous = &hook;
  }
  static void remove(Hook& hook) noexcept {
    hook.previous->next = hook.next;
    hook.next->previous = hook.previous;
    hook.next = hook.previous = nullptr;
  }
  [[nodiscard]] Hook* first() noexcept { return head_.next; }
  [[nodiscard]] Hook* end() noexcept { return &head_; }

 private:
  Hook head_;
};

/// A receive that waits for its message. Lives inside the operation of its owner.
struct Posted {
  Hook hook;
  Key key;
  std::uint64_t order = 0;

  [[nodiscard]] bool queued() const noexcept { return hook.next != nullptr; }
};

/// A message that arrived before its receive. Lives inside the record of its owner.
struct Unexpected {
  Hook by_peer;
  Hook by_arrival;
  Key key;
  /// Older messages of its sender may still arrive: receives of any tag pass over it.
  bool out_of_turn = false;
};

/// The two queues of MPI matching (MPI 5.0, 3.5: non-overtaking). Buckets by context and peer keep
/// the lists short; receives from any source stand in a list of their own and are ordered against
/// the buckets by a counter, messages stand also in one list by arrival. Knows no communicator and
/// owns nothing. Not thread-safe: the engine's lock.
class Matcher {
 public:
  /// The receive posted first that accepts `message`, taken off the queue; nullptr if there is
  /// none.
  [[nodiscard]] Posted* take_posted(const Key& message) noexcept {
    if (posted_count_ == 0) return nullptr;
    Posted* best = first_accepting(posted_[bucket(message)], message);
    if (!posted_any_.empty()) [[unlikely]] {
      Posted* any = first_accepting(posted_any_, message);
      if (best == nullptr || (any != nullptr && any->order < best->order)) best = any;
    }
    if (best != nullptr) remove(*best);
    return best;
  }

  /// The same for a message that is out of turn.
  [[nodiscard]] Posted* take_posted_out_of_turn(const Key& message) noexcept;

  /// Queues a receive whose key is set.
  void post(Posted& receive) noexcept {
    receive.order = next_order_++;
    ++posted_count_;
    (receive.key.peer == any_peer ? posted_any_ : posted_[bucket(receive.key)])
        .append(receive.hook);
  }
  void remove(Posted& receive) noexcept {
    --posted_count_;
    HookList::remove(receive.hook);
  }

  /// The message that arrived first among those which `receive` accepts, left on the queue.
  [[nodiscard]] Unexpected* find_unexpected(const Key& receive) noexcept {
    if (unexpected_count_ == 0) return nullptr;
    return find_unexpected_slow(receive);
  }
  void add(Unexpected& message) noexcept {
    ++unexpected_count_;
    unexpected_[bucket(message.key)].append(message.by_peer);
    arrivals_.append(message.by_arrival);
  }
  void remove(Unexpected& message) noexcept {
    --unexpected_count_;
    HookList::remove(message.by_peer);
    HookList::remove(message.by_arrival);
  }

  [[nodiscard]] std::size_t posted_count() const noexcept { return posted_count_; }
  [[nodiscard]] std::size_t unexpected_count() const noexcept { return unexpected_count_; }

  /// The oldest unexpected message, for cleaning up; nullptr if there is none.
  [[nodiscard]] Unexpected* oldest_unexpected() noexcept;
  /// The one that arrived after `message`; nullptr if none did.
  [[nodiscard]] Unexpected* next_unexpected(Unexpected& message) noexcept;
  /// Calls `visit(Posted&)` for every queued receive; `visit` may remove the one it is given.
  template <class Visit>
  void for_each_posted(Visit visit) noexcept {
    for (HookList& list : posted_) visit_list(list, visit);
    visit_list(posted_any_, visit);
  }

 private:
  static constexpr std::size_t buckets = 64;

  static std::size_t bucket(const Key& key) noexcept {
    return (key.peer + key.context * 7) % buckets;
  }
  static Posted* posted_of(Hook* hook) noexcept { return reinterpret_cast<Posted*>(hook); }
  static Posted* first_accepting(HookList& list, const Key& message) noexcept {
    for (Hook* hook = list.first(); hook != list.end(); hook = hook->next) {
      if (posted_of(hook)->key.accepts(message)) return posted_of(hook);
    }
    return nullptr;
  }
  Unexpected* find_unexpected_slow(const Key& receive) noexcept;
  template <class Visit>
  static void visit_list(HookList& list, Visit& visit) noexcept {
    for (Hook* hook = list.first(); hook != list.end();) {
      Hook* next = hook->next;
      visit(*posted_of(hook));
      hook = next;
    }
  }

  std::size_t posted_count_ = 0;
  std::size_t unexpected_count_ = 0;
  std::uint64_t next_order_ = 0;
  std::array<HookList, buckets> posted_;
  HookList posted_any_;
  std::array<HookList, buckets> unexpected_;
  HookList arrivals_;
};

}  // namespace fulmar::match
