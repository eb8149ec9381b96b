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
  /// What is above: called with `context`.
  struct Owner {
    void* context = nullptr;
    /// What an `rts` for this send says. The send is announced with it. `early`: older messages
    /// stay behind.
    wire::RtsBody (*announce)(void* context, Operation& send, bool early) noexcept = nullptr;
    /// `holds_senders` may answer otherwise than before.
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

  /// A send to a peer that has told this process to hold: keeps it, or announces it if the peer has
  /// asked for it.
  void keep(Operation& send) noexcept;
  /// Takes a kept send back. False if it is not there.
  bool withdraw(Operation& send) noexcept;
  /// This process has left MPI and is back: the peer does not remember that it told it to hold.
  void forget_own_hold(Peer& peer) noexcept { on_release(peer); }

  // --- the receiver's side

  /// Whether senders were told to hold.
  [[nodiscard]] bool holds_senders() const noexcept { return !held_senders_.empty(); }
  [[nodiscard]] std::size_t held_senders() const noexcept { return held_senders_.size(); }
  /// Tells the sender to hold, if it was not told yet.
  void hold_sender(Peer& peer) noexcept;
  /// Lets all senders go if half of the budget is free again. Where holds_senders().
  void release_senders() noexcept;
  /// A receive with this key found nothing: asks the senders for a message. Where holds_senders().
  void ask_senders(const match::Key& key) noexcept;
  /// The same for a probe: once, until something is announced that it would find.
  void ask_for_probe(const match::Key& key) noexcept;
  /// The peer has left MPI: it knows nothing of the hold.
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
