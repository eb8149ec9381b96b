// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/operation.h"
#include "device/peer/failures.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/operations.h"
#include "device/protocol/protocol.h"
#include "device/protocol/rndv_copy.h"
#include "device/protocol/rndv_rdma.h"
#include "device/protocol/rndv_stream.h"
#include "device/transport/transports.h"

namespace fulmar::device {

/// Long messages: the choice between the protocols of the table, and their progress; protocols.cc explains them. One of
/// the parts of a device.
///
/// Thread rule: the lock of the engine.
class Protocols {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    Transports& transports;
    ActiveTransfers& active;
    Operations& operations;
    Failures& failures;
    RndvStream& stream;
    RndvCopy& copy;
    RndvRdma& rdma;
  };

  explicit Protocols(const Parts& parts) noexcept
      : parts_(parts), rndv_{&parts.stream, &parts.copy, &parts.rdma} {}
  Protocols(const Protocols&) = delete;
  Protocols& operator=(const Protocols&) = delete;

  /// A receive has matched an announced message; its outcome is filled in. It may be destroyed then.
  void start(Operation& receive, Peer& peer, const Announced& message) noexcept;
  /// The same for an announcement within the node that has brought the first bytes of the message: where the rest
  /// will be streamed it is asked for before they are copied.
  void start_with_head(Operation& receive, Peer& peer, const Announced& message,
                       const fabric::Body& body) noexcept;
  /// See Device::abort.
  void abort(Operation& operation, base::ErrorClass error) noexcept;
  /// One step of the active transfers. Returns how much moved.
  unsigned advance_active() noexcept;

 private:
  void choose(Operation& receive, const Announced& message) noexcept;

  Parts parts_;
  RndvParts rndv_;
};

}  // namespace fulmar::device
