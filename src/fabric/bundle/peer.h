// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "fabric/bundle/kept_packets.h"
#include "fabric/bundle/pieces.h"
#include "fabric/bundle/speed.h"
#include "fabric/connection/fin_handshake.h"
#include "fabric/connection/peer_life.h"
#include "fabric/connection/sequence.h"

namespace fulmar::fabric::bundle {

inline constexpr std::uint8_t no_path = UINT8_MAX;

/// A rail that two processes share, as one of them sees it. Both number the paths in the same order.
struct Path {
  std::uint8_t rail = 0;      ///< index in this process's bundle
  bool is_connected = false;  ///< it has taken or delivered a packet
  bool ended_here = false;    ///< closed on this side: nothing is sent or received over it
  bool ended_there = false;   ///< the peer has sent `down`
  bool down_sent = false;     ///< this side has
  bool is_over = false;       ///< both have, and pieces in flight were marked for another path
  /// How it comes back into use (pairs_returns.cc).
  enum class Return : std::uint8_t {
    none,
    offered,    ///< this side has sent `up`, and waits for the answer
    agreed,     ///< both sides have sent `up`: the rail is readmitted when no rail is being polled
    tried,      ///< the rail is readmitted, and nothing has come over it
    answering,  ///< the first packet over it has come, and has to be answered over it
  };
  Return back = Return::none;
  bool has_tried = false;           ///< while `tried`: the rail has taken a packet
  std::uint64_t retry_ns = 0;       ///< when to offer it
  std::uint64_t retry_wait_ns = 0;  ///< the wait before the last offer
  Speed speed;
  std::uint64_t sent_bytes = 0;  ///< of pieces that the peer acknowledged
  base::Error why;               ///< why it ended
  std::uint64_t ended_ns = 0;
};

/// The state of a peer that packets were posted to or came from.
struct Peer {
  enum class Rails : std::uint8_t {
    single,   ///< one rail in common: used as if there was no bundle
    several,  ///< packets carry the bundle's header
  };

  explicit Peer(Budget& budget) noexcept : kept(budget) {}

  Rails rails = Rails::single;
  /// In this session of the pair. Open: a packet has come. Not used for a `single` peer, whose state the
  /// rail keeps.
  PeerLife presence;
  FinHandshake fin;
  std::uint8_t rail = 0;  ///< of `single`
  std::uint8_t path_count = 0;
  std::uint8_t primary = no_path;  ///< the path of ordered packets; none before one was taken
  bool is_scheduled = false;       ///< listed in Pairs::scheduled_
  bool ack_due = false;
  bool checks_paths = false;     ///< a path has ended: probe the others
  bool is_suspect = false;       ///< nothing came from the peer since then
  bool sent_unnumbered = false;  ///< a packet without a number was sent
  std::uint16_t life = 0;        ///< of the peer; 0: nothing has come from it yet in this session
  std::uint16_t least_life = 0;  ///< older ones belong to an earlier session; 0: there was none
  std::uint32_t epoch = 0;       ///< counts the sessions of the pair
  std::array<Path, wire::bundle_most_rails> paths;

  KeptPackets kept;
  ReceiveSequence received;         ///< ordered packets
  std::uint64_t unacked_bytes = 0;  ///< received since the last acknowledgement
  std::uint64_t since_ns = 0;       ///< when the search for a primary path began
  std::uint64_t tried_in_poll =
      0;  ///< number of the last poll in which unconnected paths were tried
  std::unique_ptr<OutPieces> out;
  std::unique_ptr<InPieces> in;

  [[nodiscard]] std::optional<std::uint8_t> path_of(std::uint32_t rail_number) const noexcept {
    for (std::uint8_t i = 0; i < path_count; ++i) {
      if (paths[i].rail == rail_number) return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] unsigned paths_up() const noexcept {
    unsigned count = 0;
    for (std::uint8_t i = 0; i < path_count; ++i) count += paths[i].ended_here ? 0 : 1;
    return count;
  }
  [[nodiscard]] bool has_pieces() const noexcept { return out != nullptr && !out->empty(); }
  /// Whether either side has sent anything.
  [[nodiscard]] bool has_traffic() const noexcept {
    return presence.is_connected() || sent_unnumbered || kept.next_number() != 0;
  }
  [[nodiscard]] bool is_lost() const noexcept { return presence.is_lost(); }
  [[nodiscard]] bool has_single() const noexcept { return rails == Rails::single && !is_lost(); }
  [[nodiscard]] bool has_several() const noexcept { return rails == Rails::several && !is_lost(); }
  /// The peer had left, and nothing has come from it since.
  [[nodiscard]] bool is_away() const noexcept {
    return presence.has_left() && !presence.is_closing();
  }
  /// Whether packets may use this path: one on trial only where there is no other.
  [[nodiscard]] bool may_use(const Path& path) const noexcept {
    if (path.ended_here || path.back != Path::Return::tried) return !path.ended_here;
    return std::none_of(paths.begin(), paths.begin() + path_count, [](const Path& each) {
      return !each.ended_here && each.back != Path::Return::tried;
    });
  }
  [[nodiscard]] bool is_connected() const noexcept {
    return std::any_of(paths.begin(), paths.end(),
                       [](const Path& path) { return path.is_connected; });
  }
};

}  // namespace fulmar::fabric::bundle
