// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::match {

struct Hook {
  Hook* next = nullptr;
  Hook* previous = nullptr;

  [[nodiscard]] bool linked() const noexcept { return next != nullptr; }
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
    hook.next = nullptr;
  }
  [[nodiscard]] Hook* first() noexcept { return head_.next; }
  [[nodiscard]] Hook* end() noexcept { return &head_; }
  [[nodiscard]] const Hook* first() const noexcept { return head_.next; }
  [[nodiscard]] const Hook* end() const noexcept { return &head_; }

 private:
  Hook head_;
};

}  // namespace fulmar::match
