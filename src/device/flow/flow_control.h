// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/config.h"
#include "device/flow/outbox.h"
#include "device/matching/arrival.h"
#include "device/packet/packet_handlers.h"
#include "device/stats/stats.h"
#include "match/matcher.h"

namespace fulmar::device {

/// Back-pressure: bounds the memory that unexpected messages take at their receiver. Both sides of
/// it; flow_control.cc explains the protocol. Takes the packets `hold`, `release` and `ask`.
///
/// Thread rule: the lock of the engine.
class FlowControl {
 public:
  /// Callbacks into the layer above, called with `context`.
  struct Owner {
    void* context = nullptr;
    /// Makes the `rts` of this send and marks it as announced. `early`: older messages
    /// stay behind.
    wire::RtsBody (*announce)(void* context, Operation& send, bool early) noexcept = nullptr;
    /// The result of `holds_senders` may have changed.
    void (*holds_changed)(void* context) noexcept = nullptr;
  };
  /// The parts that it uses; all outlive it.
  struct Parts {
    const Config& config;
    Outbox& outbox;
    PeerTable& peers;
    match::Matcher& matcher;
    const ArrivalPool& arrivals;
    Stats& stats;
  };

  FlowControl(const Parts& parts, PacketHandlers& handlers, const Owner& owner) noexcept;
  FlowControl(const FlowControl&) = delete;
  FlowControl& operator=(const FlowControl&) = delete;

  // --- the sender's side

  /// A send to a peer that holds this process's messages: keeps it, or announces it if the peer has
  /// asked for it.
  void keep(Operation& send) noexcept;
  /// Takes a kept send back. False if it is not there.
  bool withdraw(Operation& send) noexcept;
  /// This process has left MPI and is back: the peer does not remember its hold.
  void forget_own_hold(Peer& peer) noexcept { on_release(peer); }

  // --- the receiver's side

  /// Whether any sender is held.
  [[nodiscard]] bool holds_senders() const noexcept { return !held_senders_.empty(); }
  [[nodiscard]] std::size_t held_senders() const noexcept { return held_senders_.size(); }
  /// Sends `hold` to the sender, unless it is held already.
  void hold_sender(Peer& peer) noexcept;
  /// Releases all senders if half of the budget is free again. Requires holds_senders().
  void release_senders() noexcept;
  /// A receive with this key found no message: asks the senders for one. Requires holds_senders().
  void ask_senders(const match::Key& key) noexcept;
  /// The same for a probe: only once until a message is announced that the probe would match.
  void ask_for_probe(const match::Key& key) noexcept;
  /// The peer has left MPI: it is held no more.
  void forget_hold(Peer& peer) noexcept;

 private:
  static bool keeps_older(const Peer& peer, std::uint32_t context, std::uint64_t order) noexcept;
  static void add_early(Peer& peer, const EarlyMessage& message);
  void settle(Peer& peer) noexcept;
  void announce_early(Peer& peer, Operation& send) noexcept;
  void ask(Peer& peer, const match::Key& key) noexcept;
  void on_hold(Peer& peer) noexcept;
  void on_release(Peer& peer) noexcept;
  void on_ask(Peer& peer, const wire::AskBody& request, const match::Key& key) noexcept;

  Parts parts_;
  Owner owner_;
  std::vector<Peer*> held_senders_;
};

}  // namespace fulmar::device
