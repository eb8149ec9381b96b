// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/operation.h"

namespace fulmar::device {

/// The long messages whose bytes this process moves with progress, in the order in which that began. One of the
/// parts of a device.
///
/// Thread rule: the lock of the engine.
class ActiveTransfers {
 public:
  /// Called with `context` when there is one more: it moves only with progress.
  struct Owner {
    void* context = nullptr;
    void (*wake)(void* context) noexcept = nullptr;
  };

  explicit ActiveTransfers(const Owner& owner) noexcept : owner_(owner) {}
  ActiveTransfers(const ActiveTransfers&) = delete;
  ActiveTransfers& operator=(const ActiveTransfers&) = delete;

  void add(Operation& operation) noexcept {
    operation.next_active = nullptr;
    Operation** end = &first_;
    while (*end != nullptr) end = &(*end)->next_active;
    *end = &operation;
    owner_.wake(owner_.context);
  }
  /// No effect if it is not here.
  void remove(const Operation& operation) noexcept {
    if (next_ == &operation) next_ = operation.next_active;
    for (Operation** at = &first_; *at != nullptr; at = &(*at)->next_active) {
      if (*at == &operation) {
        *at = operation.next_active;
        return;
      }
    }
  }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// The oldest; the others by Operation::next_active. Null: none.
  [[nodiscard]] Operation* first() const noexcept { return first_; }

  /// Calls f(operation) for each, from the oldest on; f may add and remove. Not for nested calls.
  template <class F>
  void for_each(F&& f) {
    for (Operation* at = first_; at != nullptr; at = next_) {
      next_ = at->next_active;
      f(*at);
    }
  }

 private:
  Owner owner_;
  Operation* first_ = nullptr;
  Operation* next_ = nullptr;  ///< the next one that `for_each` calls
};

}  // namespace fulmar::device
