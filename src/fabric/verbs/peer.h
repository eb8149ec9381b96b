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

/// The state of a peer with any traffic. Numbers wrap around at 2^32.
struct Peer {
  PeerLife life;                    ///< connecting: cards are exchanged
  bool is_counted_pending = false;  ///< life.is_meeting(), as Messages::meetings_ counts it
  FinHandshake fin;
  SendSequence out;    ///< packets to it
  ReceiveSequence in;  ///< packets from it
  std::unique_ptr<Queue> queue;
  base::UniqueFd socket;  ///< authenticated; closed when the peer ends
  std::optional<QpExchange> exchange;
  std::string place;  ///< its port, for messages to the user
  std::size_t inline_bytes = 0;
  std::uint32_t depth = 0;  ///< work requests that may be outstanding
  std::uint32_t room = 0;   ///< the same without signals
  std::uint32_t window = 0;
  std::uint64_t cookie_out = 0;
  std::uint64_t cookie_in = 0;

  std::uint32_t posted = 0;      ///< work requests: packets and RDMA
  std::uint32_t completed = 0;   ///< of them
  std::uint32_t unsignaled = 0;  ///< since the last signaled one
  SendBuffer* oldest = nullptr;  ///< buffers in use, in the order of their sends
  SendBuffer* newest = nullptr;
  PendingRdma pending_rdma;  ///< RDMA operations that have not ended

  std::unique_ptr<InboundRing> inbound_ring;    ///< null: no ring is lent to the peer
  std::unique_ptr<OutboundRing> outbound_ring;  ///< null: the peer has lent none
  /// Whether a ring should be lent to the peer.
  struct RingDemand {
    std::uint32_t shorts = 0;  ///< messages from it that would have fitted into a ring
    std::uint32_t since = 0;   ///< value of Messages::sleeps_ at the first
    std::uint64_t began = 0;   ///< when the first of them came, by the clock of count_short
    bool is_declined = false;  ///< by the peer
  };
  RingDemand ring_demand;
  std::uint32_t final_polls = 0;  ///< of its ring, since the peer has ended

  /// Signals to the peer that are due, besides those of `fin`.
  struct Due {
    bool is_listed = false;  ///< in Messages::pending_control_
    bool credit = false;
    bool lend = false;   ///< send the address of the ring
    bool gate = false;   ///< send the address of the gate
    bool heard = false;  ///< acknowledge the state of the gate, or ask for that
  };
  Due due;
  base::Error end_cause;  ///< of the connection

  [[nodiscard]] std::uint32_t under_way() const noexcept { return posted - completed; }
};

}  // namespace fulmar::fabric::verbs
