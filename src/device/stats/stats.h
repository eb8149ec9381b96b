// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "device/config.h"
#include "device/stats/observer.h"

namespace fulmar::device {

/// Counters and the observer of a device. One of the parts of a device; all
/// others count here.
///
/// Thread rule: the lock of the engine.
class Stats {
 public:
  [[nodiscard]] Counters& counters() noexcept { return counters_; }
  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

  /// Sets the observer, which stays valid until the next call; null: none.
  void observe(Observer* observer) noexcept { observer_ = observer; }
  [[nodiscard]] Observer* observer() const noexcept { return observer_; }
  /// Notifies the observer, if there is one; for paths on which a branch does not matter.
  void note(Event::Kind kind, const match::Key& key, std::uint64_t amount) noexcept {
    if (observer_ != nullptr) [[unlikely]]
      observer_->note(*observer_, {kind, key, amount});
  }
  /// A long message has been announced.
  void count_announced(const match::Key& key, std::uint64_t bytes) noexcept {
    ++counters_.rendezvous_sends;
    counters_.rendezvous_bytes += bytes;
    note(Event::Kind::rendezvous, key, bytes);
  }

  /// Whether packets leave the straight way to their handlers, because they are traced, or counted
  /// (Drain).
  struct PacketLook {
    bool on = false;
    std::uint64_t taken = 0;  ///< while it is on
  };
  [[nodiscard]] PacketLook& packet_look() noexcept { return packet_look_; }

 private:
  Counters counters_;
  Observer* observer_ = nullptr;
  PacketLook packet_look_;
};

}  // namespace fulmar::device
