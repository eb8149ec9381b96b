// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "device/config.h"
#include "device/flow/outbox.h"
#include "device/operation.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/operations.h"
#include "device/protocol/rdma_memory.h"
#include "device/protocol/rndv_stream.h"

namespace fulmar::device {

struct Announced;

/// The protocols `rndv_read` and `rndv_write`: adapters read or write the peer's memory; rndv_rdma.cc explains them. One of
/// the parts of a device; takes the packets `cts_put` and `no_put`.
///
/// Thread rule: the lock of the engine.
class RndvRdma {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    const Config& config;
    Transports& transports;
    Outbox& outbox;
    Stats& stats;
    ActiveTransfers& active;
    RdmaMemory& memory;
    Operations& operations;
    RndvStream& stream;
  };

  explicit RndvRdma(const Parts& parts) noexcept : parts_(parts) {}
  RndvRdma(const RndvRdma&) = delete;
  RndvRdma& operator=(const RndvRdma&) = delete;

  /// Adds to an announcement how adapters could move the message. An announcement that could not be posted is made
  /// again: memory that was registered for it stays registered.
  void offer(Operation& send, wire::RtsBody& body) noexcept;
  /// The sender has put everything.
  void finish_put(Operation& receive) noexcept;
  /// Ends messages whose memory is exposed to a peer that is lost: no packet and no completion would end them. Transfers
  /// with work requests in flight end with those.
  void fail_lost() noexcept;

  // See Protocol.
  bool can_read(const Operation& receive, const Announced& message) noexcept;
  bool start_read(Operation& receive, const Announced& message) noexcept;
  bool can_write(const Operation& receive, const Announced& message) noexcept;
  bool start_write(Operation& receive, const Announced& message) noexcept;
  unsigned step(Operation& operation, bool& in_place) noexcept;
  void abort(Operation& operation, base::ErrorClass error) noexcept;

  void on_clear_to_put(Peer& peer, const wire::PutBody& request) noexcept;
  void on_no_put(Peer& peer, const wire::CookieBody& answer) noexcept;

 private:
  bool open_memory(Operation& operation, std::span<std::byte> memory,
                   fabric::Access access) noexcept;
  bool may_move_remotely(const Peer& peer) noexcept;
  bool prepare_put(Operation& send, const wire::PutBody& request) noexcept;
  void start_orders(Operation& operation, fabric::RemoteAddress place) noexcept;
  fabric::Post give_order(Operation& operation, RdmaTransfer& transfer) noexcept;
  void order_ended(RdmaTransfer& transfer, fabric::Sent how) noexcept;
  void end_orders(Operation& operation) noexcept;
  void end_put(const Operation& send) noexcept;
  static bool withdraw_fin(const Operation& send) noexcept;
  void retreat(Operation& operation) noexcept;

  Parts parts_;
};

}  // namespace fulmar::device
