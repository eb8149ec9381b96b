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

inline constexpr std::uint8_t no_way = UINT8_MAX;

/// A rail that two processes share. Both number those in the same order.
struct Way {
  std::uint8_t rail = 0;      ///< of the own bundle
  bool is_connected = false;  ///< it has taken something, or something came over it
  bool ended_here = false;  ///< nothing comes from it and nothing goes out: it is not used any more
  bool ended_there = false;  ///< the peer has said the same
  bool told = false;         ///< we have said so
  bool is_over = false;      ///< both have said so, and what was under way has been looked after
  /// How it comes back (pairs_returns.cc).
  enum class Return : std::uint8_t {
    none,
    offered,    ///< this side has said `up` first, and waits for the answer
    agreed,     ///< both want it: the rail is readmitted when no rail is being polled
    tried,      ///< the rail is readmitted, and nothing has come over it
    answering,  ///< the first packet over it has come, and is to be answered over it
  };
  Return back = Return::none;
  bool has_knocked = false;         ///< while `tried`: the rail has taken something
  std::uint64_t retry_ns = 0;       ///< when to offer it
  std::uint64_t retry_wait_ns = 0;  ///< how long it was waited before it was offered last
  Speed speed;
  std::uint64_t sent_bytes = 0;  ///< of pieces that the peer acknowledged
  base::Error why;               ///< of the end
  std::uint64_t ended_ns = 0;
};

/// What there is of a peer that was ever posted to, or that has posted.
struct Peer {
  enum class Rails : std::uint8_t {
    single,   ///< one leads there; it is used as if there was no bundle
    several,  ///< packets carry the bundle's header
  };

  explicit Peer(Budget& budget) noexcept : kept(budget) {}

  Rails rails = Rails::single;
  /// In this session of the pair. Open: something has come. What the rails know of a `single` peer is
  /// theirs.
  PeerLife presence;
  FinHandshake fin;
  std::uint8_t rail = 0;  ///< of `single`
  std::uint8_t way_count = 0;
  std::uint8_t primary = no_way;  ///< the way of packets in order; none before the first was taken
  bool stirred = false;           ///< listed: something is to be done for it
  bool owes_news = false;
  bool asks_ways = false;        ///< a way has ended: do the others lead to anybody?
  bool is_doubted = false;       ///< nothing came from it since
  bool is_knocked = false;       ///< something was sent to it that has no number
  std::uint16_t life = 0;        ///< of the peer; 0: nothing has come from it yet in this session
  std::uint16_t least_life = 0;  ///< what is older is of an earlier session; 0: there was none
  std::uint32_t epoch = 0;       ///< counts the sessions of the pair
  std::array<Way, wire::bundle_most_rails> ways;

  KeptPackets kept;
  ReceiveSequence received;        ///< packets in order
  std::uint64_t silent_bytes = 0;  ///< that came since
  std::uint64_t since_ns = 0;      ///< when a way for packets was first looked for
  std::uint64_t poked_at = 0;      ///< number of the poll in which unconnected ways were tried last
  std::unique_ptr<OutPieces> out;
  std::unique_ptr<InPieces> in;

  [[nodiscard]] std::optional<std::uint8_t> way_of(std::uint32_t rail_number) const noexcept {
    for (std::uint8_t i = 0; i < way_count; ++i) {
      if (ways[i].rail == rail_number) return i;
    }
    return std::nullopt;
  }
  [[nodiscard]] unsigned ways_up() const noexcept {
    unsigned count = 0;
    for (std::uint8_t i = 0; i < way_count; ++i) count += ways[i].ended_here ? 0 : 1;
    return count;
  }
  [[nodiscard]] bool has_pieces() const noexcept { return out != nullptr && !out->empty(); }
  /// Whether anything was said by either side.
  [[nodiscard]] bool has_talked() const noexcept {
    return presence.is_connected() || is_knocked || kept.next_number() != 0;
  }
  [[nodiscard]] bool is_lost() const noexcept { return presence.is_lost(); }
  [[nodiscard]] bool has_single() const noexcept { return rails == Rails::single && !is_lost(); }
  [[nodiscard]] bool has_several() const noexcept { return rails == Rails::several && !is_lost(); }
  /// It had left, and nothing came from it since.
  [[nodiscard]] bool is_away() const noexcept {
    return presence.has_left() && !presence.is_closing();
  }
  /// Whether packets may go there: one that is tried is used only where there is no other.
  [[nodiscard]] bool may_use(const Way& way) const noexcept {
    if (way.ended_here || way.back != Way::Return::tried) return !way.ended_here;
    return std::none_of(ways.begin(), ways.begin() + way_count, [](const Way& each) {
      return !each.ended_here && each.back != Way::Return::tried;
    });
  }
  [[nodiscard]] bool is_connected() const noexcept {
    return std::any_of(ways.begin(), ways.end(), [](const Way& way) { return way.is_connected; });
  }
};

}  // namespace fulmar::fabric::bundle
