// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "fabric/ofi/messages.h"

/// Keep-alive: detects silent peers that have died.
///
/// A process that only receives has no transfer that could fail when the sender dies, and libfabric does
/// not report the end of a connection. So once a second, while this process polls the network at all, it
/// probes the peers that it has traffic with:
///
/// * Where endpoints listen on TCP sockets, by a TCP connection to each (keep_alive.h), which the kernels
///   answer. A death is found within some 3 s, a host that is gone within 8 s. At most a quarter of the
///   descriptors of this process are used for that; further peers are probed when they are silent, and
///   the connection is closed with the answer.
/// * Otherwise, and where that gives no result, by a packet without a number to a peer that was silent for
///   two probe intervals, unless one is in flight already. No answer is expected; the endpoint reports if
///   the packet cannot be delivered, as those of EFA, CXI and PSM3 do.
///
/// A process that computes or was stopped is silent, and not dead: its kernel, or its adapter, answers.
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

void Messages::probe_silent_peers() {
  has_slept_ = false;
  if (next_probe_ns_ == 0) return;
  const auto now_ns = static_cast<std::int64_t>(base::now_ns());
  if (now_ns < next_probe_ns_) return;
  next_probe_ns_ = now_ns + config_.keep_alive_interval_ns;
  if (most_probes_ == 0) most_probes_ = std::max<std::size_t>(spare_descriptors(), 1);
  for (const std::uint32_t rank : known_) {
    Peer* const peer = peers_[rank].get();
    if (peer->life.is_lost() || peer->life.has_left() || !peer->has_traffic) continue;
    peer->quiet_probes =
        peer->has_received ? 0 : std::min<int>(peer->quiet_probes + 1, most_quiet_looks);
    if (std::exchange(peer->has_received, false)) peer->keep_alive.note_heard();
    // A peer whose address is not known yet is not dead.
    if (!peer->found) peer->found = insert(rank, *peer).ok();
    if (peer->found) probe(rank, *peer, now_ns);
  }
}

void Messages::probe(std::uint32_t rank, Peer& peer, std::int64_t now_ns) {
  const bool is_quiet = peer.quiet_probes >= quiet_looks;
  Sign sign = Sign::unknown;
  const bool had = peer.keep_alive.holds_descriptor();
  const bool may_hold = had || probes_ < most_probes_;
  if (can_.listens_on_tcp && (may_hold || is_quiet)) {
    sign = peer.keep_alive.step(peer.name, now_ns, may_hold ? Hold::yes : Hold::no);
    probes_ += peer.keep_alive.holds_descriptor() ? 1 : 0;
    probes_ -= had ? 1 : 0;
  }
  switch (sign) {
    case Sign::alive:
      return;
    case Sign::refused:
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
  peers_[rank]->has_other_networks = ms != 0;
  peers_[rank]->keep_alive.set_dead_after(ms);
}

void Messages::end_probe(Peer& peer) noexcept {
  if (peer.keep_alive.holds_descriptor()) --probes_;
  peer.keep_alive.end();
}

}  // namespace fulmar::fabric::ofi
