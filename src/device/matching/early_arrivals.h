// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "device/matching/arrival.h"
#include "device/operation.h"
#include "device/peer/peer.h"
#include "device/progress/hook.h"
#include "device/progress/waiting.h"
#include "match/matcher.h"

namespace fulmar::device {

/// Unexpected messages that were announced out of order and wait for a receive, or for the older ones; see
/// device/flow/flow_control.cc. One of the parts of a device; takes the packets `settled`.
///
/// Thread rule: the lock of the engine.
class EarlyArrivals : private ProgressCallback {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    match::Matcher& matcher;
    ProgressCallbacks& callbacks;
    Waiting& waiting;
  };
  /// Called with `context`: delivers a message that was taken out of the queue to its receive, and
  /// frees its record.
  struct Owner {
    void* context = nullptr;
    void (*receive)(void* context, Operation& receive, Arrival& arrival) noexcept = nullptr;
  };

  EarlyArrivals(const Parts& parts, const Owner& owner) noexcept : parts_(parts), owner_(owner) {}
  EarlyArrivals(const EarlyArrivals&) = delete;
  EarlyArrivals& operator=(const EarlyArrivals&) = delete;

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// An early message is in the queue of unexpected ones.
  void add(Arrival& arrival) noexcept;
  /// One of these has been taken out of the queue.
  void forget(const Arrival& arrival) noexcept;
  /// Matches early messages with receives that no receive of any tag precedes any more. Returns how many.
  unsigned match() noexcept;

  /// All messages that are older than an early one have arrived.
  void on_settled(Peer& peer, const wire::SettledBody& news, const match::Key& key) noexcept;

 private:
  Parts parts_;
  Owner owner_;
  std::vector<Arrival*> waiting_;  ///< the callback is registered while there are any
};

/// Takes a message out of the queue of unexpected ones.
inline void take_arrival(match::Matcher& matcher, EarlyArrivals& early, Arrival& arrival) noexcept {
  matcher.remove(arrival.unexpected);
  if (arrival.unexpected.out_of_turn) [[unlikely]]
    early.forget(arrival);
}

}  // namespace fulmar::device
