// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::match {

struct ListNode {
  ListNode* next = nullptr;
  ListNode* previous = nullptr;

  [[nodiscard]] bool linked() const noexcept { return next != nullptr; }
};

/// A circular list of hooks with a sentinel.
class List {
 public:
  List() noexcept { clear(); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  void clear() noexcept { head_.next = head_.previous = &head_; }
  [[nodiscard]] bool empty() const noexcept { return head_.next == &head_; }
  void append(ListNode& node) noexcept {
    node.previous = head_.previous;
    node.next = &head_;
    head_.previous->next = &node;
    head_.previous = &node;
  }
  static void remove(ListNode& node) noexcept {
    node.previous->next = node.next;
    node.next->previous = node.previous;
    node.next = nullptr;
  }
  [[nodiscard]] ListNode* first() noexcept { return head_.next; }
  [[nodiscard]] ListNode* end() noexcept { return &head_; }
  [[nodiscard]] const ListNode* first() const noexcept { return head_.next; }
  [[nodiscard]] const ListNode* end() const noexcept { return &head_; }

 private:
  ListNode head_;
};

}  // namespace fulmar::match
