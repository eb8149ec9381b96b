// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/config.h"
#include "device/flow/outbox.h"
#include "device/operation.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/copy_choice.h"
#include "device/protocol/operations.h"
#include "device/protocol/rdma_memory.h"
#include "device/protocol/rndv_stream.h"
#include "device/protocol/share_pool.h"

namespace fulmar::device {

struct Announced;

/// The protocols `rndv_share` and `rndv_copy`: the kernel copies from one address space to the other, by both sides or by
/// the receiver; device/protocol/protocols.cc compares them with the others. One of the parts of a device; takes the
/// packets `cts_shared`.
///
/// Thread rule: the lock of the engine.
class RndvCopy {
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
    CopyChoice& copy_choice;
    Heads& heads;
    RndvStream& stream;
  };

  explicit RndvCopy(const Parts& parts) noexcept : parts_(parts) {}
  RndvCopy(const RndvCopy&) = delete;
  RndvCopy& operator=(const RndvCopy&) = delete;

  /// Where there is a choice: takes the way that was measured to be faster, and starts the timing.
  void choose(Operation& receive) noexcept;
  /// The receiver has all bytes: tells the sender.
  void finish(Operation& receive) noexcept;

  // See Protocol.
  bool can_share(const Operation& receive, const Announced& message) noexcept;
  bool start_share(Operation& receive, const Announced& message) noexcept;
  unsigned step_share(Operation& operation, bool& in_place) noexcept;
  void abort_share(Operation& operation, base::ErrorClass error) noexcept;
  bool can_read(const Operation& receive, const Announced& message) noexcept;
  bool start_read(Operation& receive, const Announced& message) noexcept;
  unsigned step_read(Operation& receive, bool& in_place) noexcept;
  void abort_read(Operation& operation, base::ErrorClass error) noexcept;

  void on_clear_to_share(Peer& peer, const wire::SharedCopyBody& request) noexcept;

 private:
  bool could_share(const Operation& receive) noexcept;
  base::Error copy_piece(Operation& operation, std::uint64_t offset, std::uint64_t bytes) noexcept;

  Parts parts_;
  SharePool shares_;
};

}  // namespace fulmar::device
