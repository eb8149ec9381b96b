// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "fabric/ofi/messages.h"

/// Whether silent peers live.
///
/// A process that only listens has no transfer that could fail when the sender dies, and libfabric
/// tells nobody that a connection has ended. So once a second, while this process looks at the
/// network at all, it asks after the peers that it has to do with:
///
/// * Where endpoints listen on sockets of TCP, by a lifeline to each (keep_alive.h), which the kernels
///   answer. A death is found within some 3 s, a host that is gone within 8 s. Only a quarter of
///   the descriptors that this process may have are used for that; peers beyond it are called when
///   they are silent, and each answer ends the call.
/// * Otherwise, and where that tells nothing, by a packet without a number to who has been silent
///   for two looks, unless one is on its way already. Nobody waits for an answer; what is asked
///   for is that the endpoint says that it cannot be delivered, as those of EFA, CXI and PSM3 do.
///
/// A process that computes or was stopped says nothing, and is not dead: its kernel, or its
/// adapter, answers for it.
namespace fulmar::fabric::ofi {
namespace {

using Sign = KeepAlive::Sign;
using Hold = KeepAlive::Hold;

constexpr std::uint8_t quiet_looks = 2;
constexpr std::uint8_t most_quiet_looks = 255;

std::size_t spare_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::size_t>(limit.rlim_cur, 1U << 20) / 4;
}

}  // namespace

void Messages::keep_vigil() {
  has_slept_ = false;
  if (next_vigil_ns_ == 0) return;
  const auto now_ns = static_cast<std::int64_t>(base::now_ns());
  if (now_ns < next_vigil_ns_) return;
  next_vigil_ns_ = now_ns + config_.vigil_ns;
  if (most_lifelines_ == 0) most_lifelines_ = std::max<std::size_t>(spare_descriptors(), 1);
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    Peer* const peer = peers_[rank].get();
    if (peer == nullptr || peer->life.is_lost() || peer->life.has_left() || !peer->talked) continue;
    peer->quiet = peer->heard ? 0 : std::min<int>(peer->quiet + 1, most_quiet_looks);
    if (std::exchange(peer->heard, false)) peer->keep_alive.note_heard();
    // One whose address cannot be told is not dead.
    if (!peer->found) peer->found = insert(rank, *peer).ok();
    if (peer->found) ask_after(rank, *peer, now_ns);
  }
}

void Messages::ask_after(std::uint32_t rank, Peer& peer, std::int64_t now_ns) {
  const bool is_quiet = peer.quiet >= quiet_looks;
  Sign sign = Sign::unknown;
  const bool had = peer.keep_alive.holds_descriptor();
  const bool may_hold = had || lifelines_ < most_lifelines_;
  if (can_.listens_on_tcp && (may_hold || is_quiet)) {
    sign = peer.keep_alive.look(peer.name, now_ns, may_hold ? Hold::yes : Hold::no);
    lifelines_ += peer.keep_alive.holds_descriptor() ? 1 : 0;
    lifelines_ -= had ? 1 : 0;
  }
  switch (sign) {
    case Sign::living:
      return;
    case Sign::nobody:
      return lose_over_network(rank, "nobody listens at its address any more; has it crashed?");
    case Sign::silent:
      return lose_over_network(
          rank, "its host answers nothing any more; is it alive, and the network up?");
    case Sign::unknown:
      break;
  }
  if (!is_quiet || peer.under_way != 0) return;
  peer.owes_ack = true;
  note_pending_control(rank, peer);
}

void Messages::set_dead_after(std::uint32_t rank, std::uint32_t ms) {
  if (peers_[rank] == nullptr) {
    if (ms == 0) return;
    make_peer(rank, cookie(name_of(rank), own_name_));
  }
  peers_[rank]->has_other_ways = ms != 0;
  peers_[rank]->keep_alive.set_dead_after(ms);
}

void Messages::end_vigil(Peer& peer) noexcept {
  if (peer.keep_alive.holds_descriptor()) --lifelines_;
  peer.keep_alive.end();
}

}  // namespace fulmar::fabric::ofi
