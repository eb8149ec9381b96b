// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "device/config.h"
#include "device/flow/flow_control.h"
#include "device/flow/outbox.h"
#include "device/matching/arrival.h"
#include "device/matching/early_arrivals.h"
#include "device/operation.h"
#include "device/peer/peer_table.h"
#include "device/progress/hook.h"
#include "device/progress/waiting.h"
#include "device/protocol/operations.h"
#include "match/matcher.h"

namespace fulmar::device {

/// Withdraws operations; cancelling.cc explains what becomes of requests to peers that leave. One of the parts of a
/// device; takes the packets `cancel` and `cancel_reply`.
///
/// Thread rule: the lock of the engine.
class Cancelling : private ProgressCallback {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    const Config& config;
    Transports& transports;
    match::Matcher& matcher;
    ArrivalPool& arrivals;
    PeerTable& peers;
    Outbox& outbox;
    FlowControl& flow;
    EarlyArrivals& early;
    Operations& operations;
    ProgressCallbacks& callbacks;
    const ProgressState& progress;
    Waiting& waiting;
  };

  explicit Cancelling(const Parts& parts) noexcept : parts_(parts) {}
  Cancelling(const Cancelling&) = delete;
  Cancelling& operator=(const Cancelling&) = delete;

  /// See Device::cancel.
  void cancel(Operation& operation) noexcept;
  /// A send ends whose peer has been asked to withdraw it.
  void drop_request(Operation& send) noexcept;
  /// A peer has left MPI, and will not answer.
  void give_up(Peer& peer) noexcept {
    if (peer.cancel_requested.unanswered != 0) give_up_asking(peer);
  }

  /// Whether something depends on peers that may leave: their departure ends no sleep.
  [[nodiscard]] bool needed() const noexcept { return !asked_.empty() || drains_ != 0; }
  /// A call waits, until `end_drain`, for queued packets.
  void begin_drain() noexcept { ++drains_; }
  void end_drain() noexcept { --drains_; }
  /// Whether something is queued for a process that may still take it: packets for one which has left for good are
  /// not delivered, and wait for ever. They are not dropped, because messages that make communicators of a later
  /// session may be among them.
  [[nodiscard]] bool has_wanted_backlog() noexcept;

  void on_cancel(Peer& peer, const wire::CookieBody& request) noexcept;
  void on_cancel_reply(Peer& peer, const wire::CancelBody& answer) noexcept;

 private:
  void finish_cancelled(Operation& operation) noexcept;
  bool withdraw_local(Operation& send) noexcept;
  void send_request(Operation& send) noexcept;
  unsigned poll_departures() noexcept;
  unsigned give_up_asking(Peer& peer) noexcept;
  bool has_left(const Peer& peer) noexcept;

  Parts parts_;
  std::vector<Peer*>
      asked_;  ///< peers with unanswered requests; the callback is registered while there are any
  std::uint64_t moved_ = 0;  ///< ProgressState::moved at the last look
  std::uint32_t drains_ = 0;
};

}  // namespace fulmar::device
