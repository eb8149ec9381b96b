// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "device/completion.h"
#include "device/config.h"
#include "device/flow/outbox.h"
#include "device/operation.h"
#include "device/packet/packet_handlers.h"
#include "device/peer/peer_table.h"
#include "device/protocol/active_transfers.h"
#include "device/protocol/copy_choice.h"
#include "device/protocol/operations.h"
#include "device/protocol/rdma_memory.h"

namespace fulmar::device {

/// A receive whose way was timed has all its bytes.
void note_way(CopyChoice& choice, const Operation& receive) noexcept;

/// The protocol `rndv_stream`: the bytes of a long message travel in packets. Within a node the sender copies them into
/// the ring and the receiver out of it, both at once; networks that can take them from the memory of the message, and
/// put them into that of the receive (device/protocol/placement.h). It always works, and the other protocols fall back to
/// it, also in the middle of a message. One of the parts of a device; takes the packets `cts_stream` and `data`.
///
/// Thread rule: the lock of the engine.
class RndvStream {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    const Config& config;
    Transports& transports;
    PeerTable& peers;
    PacketHandlers& handlers;
    Outbox& outbox;
    Stats& stats;
    Completions& completions;
    ActiveTransfers& active;
    RdmaMemory& memory;
    Operations& operations;
    CopyChoice& copy_choice;
    Heads& heads;
  };
  /// Pieces of one packet whose bytes a network takes from, or puts to, where they lie.
  static constexpr std::size_t most_pieces = 64;
  /// Pieces of non-contiguous data that are shorter than this on average are copied.
  static constexpr std::uint64_t smallest_piece_bytes = 256;

  explicit RndvStream(const Parts& parts) noexcept : parts_(parts) {}
  RndvStream(const RndvStream&) = delete;
  RndvStream& operator=(const RndvStream&) = delete;

  /// The receiver asks for the bytes.
  void start(Operation& receive) noexcept;
  /// So many bytes of a receive are in place, at any offset: networks may carry parts of a message in parallel. It may be
  /// done then.
  void add(Operation& receive, std::uint64_t bytes) noexcept;
  /// See Protocol.
  unsigned step(Operation& send, bool& in_place) noexcept;
  void abort(Operation& operation, base::ErrorClass error) noexcept;

  void on_clear_to_stream(Peer& peer, const wire::StreamBody& request) noexcept;
  void on_data(const Packet& packet) noexcept;

 private:
  fabric::Post post_part(Operation& send, std::size_t most_bytes) noexcept;
  fabric::Post post_in_place(Operation& send) noexcept;
  void part_sent(Operation& send, fabric::Sent how) noexcept;

  Parts parts_;
};

}  // namespace fulmar::device
