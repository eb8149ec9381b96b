// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/connection/fin_handshake.h"
#include "fabric/connection/peer_life.h"
#include "fabric/connection/sequence.h"
#include "fabric/tcp/connect/socket_options.h"
#include "fabric/tcp/stream/acked.h"
#include "fabric/tcp/stream/inbox.h"
#include "fabric/tcp/stream/outbox.h"

namespace fulmar::fabric::tcp {

inline constexpr unsigned most_lanes = 8;

/// One TCP connection: a lane to a peer.
struct Connection {
  base::UniqueFd socket;
  std::uint32_t peer = 0;
  unsigned lane = 0;
  std::string address;  ///< of the other end, as text
  Inbox in;
  Outbox out;
  std::uint64_t posted_at = 0;  ///< number of the poll before the last post
  std::uint64_t read_at = 0;    ///< number of the poll that read last
  std::uint32_t idle_reads = 0;
  SendSequence units;  ///< of packets that were posted with a copy, see wire::tcp_window
  FinHandshake fin;
  int write_error = 0;        ///< what arrived before is read all the same
  bool hot = false;           ///< read by every poll
  bool unsent = false;        ///< bytes wait, and the socket may have room: listed
  bool held = false;          ///< the end of what was written waits for more (MSG_MORE)
  bool blocked = false;       ///< bytes wait for room in the socket
  bool in_blocked = false;    ///< listed; for a while after, too
  bool watches_room = false;  ///< epoll watches for room, too
  bool unanswered = false;    ///< something was written, and not all of it is acknowledged
  Acked acked;                ///< while that is so
  std::uint64_t unanswered_since_ns = 0;
  std::optional<std::uint32_t> idle_at;  ///< `units` when this process said `idle`
  bool parting = false;  ///< ends once both sides have said `part` and know it of each other
  bool doomed = false;   ///< ends with this poll

  [[nodiscard]] bool is_idle() const noexcept { return idle_at == units.next(); }
  [[nodiscard]] bool quiesced() const noexcept { return fin.complete() && out.empty(); }
};

/// The state of a peer with any traffic.
struct Peer {
  PeerLife life;  ///< open and closing: what lane 0 is; closed: the other lanes are being closed
  std::uint32_t dead_after_ms = tcp::dead_after_ms;
  bool parts = false;  ///< it has said `part`: nothing of it outlives its connections
  std::uint64_t silent_since_ns = UINT64_MAX;  ///< on other networks; UINT64_MAX: it is not
  std::array<std::unique_ptr<Connection>, most_lanes> lanes;
};

}  // namespace fulmar::fabric::tcp
