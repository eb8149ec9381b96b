// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/vain_posts.h"
#include "fabric/verbs/adapter.h"
#include "fabric/verbs/pending_work.h"
#include "fabric/verbs/qp_exchange.h"
#include "fabric/verbs/rings.h"
#include "fabric/verbs/sends.h"

namespace fulmar::fabric::verbs {

/// What is kept about a rank that was sent to or has come. Numbers go round after 2^32.
struct Peer {
  enum class State : std::uint8_t {
    wanted,    ///< no connection yet
    greeting,  ///< cards are exchanged
    up,
    gone,  ///< it has left in good order, its connection has ended, and it never comes back
    lost,
  };
  State state = State::wanted;
  bool meets = false;  ///< the introducer was asked, or cards are exchanged
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

  std::uint32_t next_out = 0;    ///< number of the next packet to it
  std::uint32_t taken_out = 0;   ///< so many of those it has taken
  std::uint32_t next_in = 0;     ///< number of the next packet from it
  std::uint32_t told_in = 0;     ///< so many it knows that we have taken
  std::uint32_t posted = 0;      ///< orders of the queue: packets, fetches and puts
  std::uint32_t completed = 0;   ///< so many of them the adapter is done with
  std::uint32_t untold = 0;      ///< since the last that a completion was asked for
  SendBuffer* oldest = nullptr;  ///< in use, in the order of their sends
  SendBuffer* newest = nullptr;
  Orders orders;  ///< fetches and puts that have not ended

  std::unique_ptr<InboundRing> inbound_ring;    ///< null: no ring is lent to it
  std::unique_ptr<OutboundRing> outbound_ring;  ///< null: it has lent none
  std::uint32_t shorts = 0;        ///< messages from it that would have fitted into a ring
  std::uint32_t shorts_since = 0;  ///< since which sleep; see Messages::sleeps_
  std::uint64_t shorts_began = 0;  ///< when the first of them came, by the clock of count_short
  bool declines_rings = false;
  std::uint32_t last_looks = 0;  ///< at its ring, since it has ended

  bool is_owed = false;  ///< listed in Messages::owed_
  bool owes_credit = false;
  bool owes_bye = false;
  bool owes_seen = false;
  bool owes_lend = false;   ///< to tell where the ring lies
  bool owes_gate = false;   ///< to tell where the gate lies
  bool owes_heard = false;  ///< a gate was seen closed, or is to be seen
  bool bye_sent = false;
  bool bye_seen = false;           ///< it has read everything
  bool has_left = false;           ///< its bye has come; it is not back
  bool was_away = false;           ///< it had left before it was met again; until it is up
  bool gone = false;               ///< what was sent to it and not received never will be
  std::string no_way;              ///< `gone`, and there is no way to it any more: why
  VainPosts vain_posts;            ///< of one that is gone
  std::uint32_t false_starts = 0;  ///< connections that ended before the queues were connected
  base::Error why;                 ///< of the loss, or of the end of the connection

  [[nodiscard]] std::uint32_t under_way() const noexcept { return posted - completed; }
};

}  // namespace fulmar::fabric::verbs
