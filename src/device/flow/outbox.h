// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/trace.h"
#include "device/peer/peer_table.h"
#include "device/transport/transports.h"
#include "match/key.h"

namespace fulmar::device {

/// Outgoing packets of this process, in order: a message or control packet that finds no space in
/// the ring or network waits in its peer's queue, and everything after it queues behind it.
///
/// Thread rule: the lock of the engine.
class Outbox {
 public:
  /// Callbacks into the layer above, called with `context`.
  struct Owner {
    void* context = nullptr;
    /// Posts a queued message, or its announcement. `again`: still no space. The send may be done,
    /// and destroyed, on return.
    fabric::Post (*post)(void* context, Operation& send) noexcept = nullptr;
    /// A queue is not empty any more: it moves only with progress.
    void (*wake)(void* context) noexcept = nullptr;
  };

  /// `trace` may be null. All outlive this.
  Outbox(Transports& transports, PeerTable& peers, base::Trace* trace, const Owner& owner) noexcept
      : transports_(transports), peers_(peers), trace_(trace), owner_(owner) {}
  /// Frees the control packets that still wait.
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Sends a control packet, as soon as there is space; none to a peer that has failed. The body,
  /// at most wire::Cell::inline_bytes bytes, is copied.
  void send_control(Peer& peer, wire::PacketKind kind, const match::Key& key,
                    std::span<const std::byte> body) noexcept;
  /// Puts a message or control packet at the end of its peer's queue.
  void enqueue(Peer& peer, Outgoing& item) noexcept;
  /// A peer's queue is empty, because the peer has failed.
  void forget(Peer& peer) noexcept;
  /// Sends as much as there is space for. Returns how much moved.
  unsigned flush() noexcept;

  [[nodiscard]] bool empty() const noexcept { return backlog_.empty(); }
  /// Peers with queued items.
  [[nodiscard]] std::span<Peer* const> backlog() const noexcept { return backlog_; }

 private:
  bool flush(Peer& peer) noexcept;
  fabric::Post put(Peer& peer, const wire::Envelope& envelope,
                   std::span<const std::byte> body) noexcept;

  Transports& transports_;
  PeerTable& peers_;
  base::Trace* trace_;
  Owner owner_;
  std::vector<Peer*> backlog_;
};

}  // namespace fulmar::device
