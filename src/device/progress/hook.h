// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

namespace fulmar::device {

/// A step of another engine (a schedule of a collective operation) that runs with progress.
/// Must stay valid until removed.
struct ProgressCallback {
  unsigned (*step)(ProgressCallback&) = nullptr;  ///< returns how much it moved
  ProgressCallback* next = nullptr;
};

class Device;
struct Peer;

/// Watches for peers that leave with cancel requests unanswered. Registered while `peers` has any:
/// those with unanswered requests.
struct DepartureWatch : ProgressCallback {
  Device* device = nullptr;
  std::vector<Peer*> peers;
  std::uint64_t moved = 0;   ///< Device::moved_ at the last call
  std::uint32_t drains = 0;  ///< calls of Device::drain that have not returned

  [[nodiscard]] bool needed() const noexcept { return !peers.empty() || drains != 0; }
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
