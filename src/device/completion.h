// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/slot_map.h"
#include "fabric/provider.h"

namespace fulmar::device {

/// The callback for the end of a post that uses memory of this process:
/// `post_in_place`, `rdma_read`, `rdma_write`. A part of the device, or a layer above it, derives
/// its own record of the operation from this, sets `ended`, adds it to the device's Completions and
/// posts with the token that it gets. One completion may serve several posts: it is called once
/// for each.
struct Completion {
  /// From within a poll of the network, with the engine's lock. `how`: see fabric::Sent. May remove
  /// and free the completion, and post again.
  void (*ended)(Completion&, fabric::Sent how) noexcept = nullptr;
};

/// The completions that are in use, by token. Networks get tokens, not addresses: a post that is
/// reported twice, or after its record is gone, is ignored.
///
/// Thread rule: the lock of the engine.
class Completions {
 public:
  /// `completion` stays where it is until removed.
  [[nodiscard]] std::uint64_t add(Completion& completion) { return map_.add(completion); }
  void remove(std::uint64_t token) noexcept { map_.remove(token); }
  /// A network is done with a post that has this token.
  void end(std::uint64_t token, fabric::Sent how) const noexcept {
    Completion* const completion = map_.find(token);
    if (completion != nullptr) completion->ended(*completion, how);
  }
  [[nodiscard]] std::size_t live() const noexcept { return map_.live(); }

 private:
  base::SlotMap<Completion> map_;
};

}  // namespace fulmar::device
