// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/connection/fin_handshake.h"
#include "fabric/connection/peer_life.h"
#include "fabric/connection/sequence.h"
#include "fabric/verbs/adapter.h"
#include "fabric/verbs/pending_work.h"
#include "fabric/verbs/qp_exchange.h"
#include "fabric/verbs/rings.h"
#include "fabric/verbs/sends.h"

namespace fulmar::fabric::verbs {

/// What is kept about a rank that was sent to or has come. Numbers go round after 2^32.
struct Peer {
  PeerLife life;        ///< connecting: cards are exchanged
  bool is_met = false;  ///< life.is_meeting(), as Messages::meetings_ counts it
  FinHandshake fin;
  SendSequence out;    ///< packets to it
  ReceiveSequence in;  ///< packets from it
  std::unique_ptr<Queue> queue;
  base::UniqueFd socket;  ///< proven; its end is the peer's
  std::optional<QpExchange> greeting;
  std::string place;  ///< its port, for people
  std::size_t inline_bytes = 0;
  std::uint32_t depth = 0;  ///< orders that may be on the way
  std::uint32_t room = 0;   ///< so many without signals
  std::uint32_t window = 0;
  std::uint64_t cookie_out = 0;
  std::uint64_t cookie_in = 0;

  std::uint32_t posted = 0;      ///< orders of the queue: packets, fetches and puts
  std::uint32_t completed = 0;   ///< so many of them the adapter is done with
  std::uint32_t untold = 0;      ///< since the last that a completion was asked for
  SendBuffer* oldest = nullptr;  ///< in use, in the order of their sends
  SendBuffer* newest = nullptr;
  Orders orders;  ///< fetches and puts that have not ended

  std::unique_ptr<InboundRing> inbound_ring;    ///< null: no ring is lent to it
  std::unique_ptr<OutboundRing> outbound_ring;  ///< null: it has lent none
  /// What speaks for lending it a ring, and against.
  struct RingDemand {
    std::uint32_t shorts = 0;  ///< messages from it that would have fitted into a ring
    std::uint32_t since = 0;   ///< since which sleep; see Messages::sleeps_
    std::uint64_t began = 0;   ///< when the first of them came, by the clock of count_short
    bool is_declined = false;  ///< by the peer
  };
  RingDemand ring_demand;
  std::uint32_t last_looks = 0;  ///< at its ring, since it has ended

  /// Signals to it that are due, besides those of `fin`.
  struct Due {
    bool is_listed = false;  ///< in Messages::pending_control_
    bool credit = false;
    bool lend = false;   ///< to tell where the ring lies
    bool gate = false;   ///< to tell where the gate lies
    bool heard = false;  ///< a gate was seen closed, or is to be seen
  };
  Due due;
  base::Error end_cause;  ///< of the connection

  [[nodiscard]] std::uint32_t under_way() const noexcept { return posted - completed; }
};

}  // namespace fulmar::fabric::verbs
