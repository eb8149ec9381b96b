// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::device {

/// A step of another engine (a schedule of a collective operation) that runs with progress.
/// Must stay valid until removed.
struct ProgressCallback {
  unsigned (*step)(ProgressCallback&) = nullptr;  ///< returns how much it moved
  ProgressCallback* next = nullptr;
};

/// What progress is at.
struct ProgressState {
  bool running = false;     ///< a progress call is being made: this may be called back from it
  std::uint64_t moved = 0;  ///< all that progress ever moved
};

/// The progress callbacks of a device. A step may remove itself and others, and add some.
class ProgressCallbacks {
 public:
  void add(ProgressCallback& hook) noexcept {
    hook.next = first_;
    first_ = &hook;
  }
  void remove(ProgressCallback& hook) noexcept {
    if (next_ == &hook) next_ = hook.next;
    for (ProgressCallback** at = &first_; *at != nullptr; at = &(*at)->next) {
      if (*at == &hook) {
        *at = hook.next;
        return;
      }
    }
  }
  /// Calls every step once. Returns how much they moved.
  unsigned run() noexcept {
    unsigned moved = 0;
    for (ProgressCallback* hook = first_; hook != nullptr; hook = next_) {
      next_ = hook->next;
      moved += hook->step(*hook);
    }
    return moved;
  }

 private:
  ProgressCallback* first_ = nullptr;
  ProgressCallback* next_ = nullptr;  ///< the next one that `run` calls
};

}  // namespace fulmar::device
