// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <span>
#include <string>

#include "fabric/bundle/pairs.h"

/// Rails that are back within a session: a cable is plugged in again, a switch has restarted.
///
/// A way is over when both sides have said `down` (pairs_rails.cc). After a while the side with the lower
/// name offers it by `up`, in order, over the ways that are left. The other side readmits its rail, so
/// that it takes connections from the peer, and answers by `up`; then the first one readmits its own
/// and connects. Nothing of before can come by it: on both sides its connections had been dropped.
///
/// Until a packet has come over it a way is *tried*: no packet goes there that another way could
/// carry, for a connection of queues says nothing about the wire. The side that offered knocks, the other
/// one answers that over the same way, and each uses it from the first packet on that it got.
///
/// If it fails again it ends as any way does, and the time to the next offer doubles. There is no
/// retry where the peer has left, or this process leaves: the next session begins with all rails.
namespace fulmar::fabric::bundle {
namespace {

constexpr std::uint64_t first_retry_ns = 5'000'000'000;
constexpr std::uint64_t longest_retry_ns = 300'000'000'000;

}  // namespace

/// Of two processes one offers, or they would have to agree on whose offer counts.
bool Pairs::offers(std::uint32_t number) const {
  return config_.processes->own_name() < config_.processes->name_of(number);
}

void Pairs::forget_return(Way& way) noexcept {
  way.back = Way::Return::none;
  way.has_knocked = false;
}

/// The way is over.
void Pairs::plan_return(std::uint32_t number, Way& way) {
  if (!offers(number)) return;
  way.retry_wait_ns = std::clamp(2 * way.retry_wait_ns, first_retry_ns, longest_retry_ns);
  way.retry_ns = now() + way.retry_wait_ns;
  retries_.push_back({number, way.rail});
}

/// True if any was offered.
bool Pairs::offer_returns() {
  if (leaving_) return false;
  const std::uint64_t time = now();
  const std::size_t before = retries_.size();
  std::erase_if(retries_, [&](const Drop& side) {
    Peer* const peer = peers_[side.peer].get();
    const auto found = peer == nullptr ? std::nullopt : peer->way_of(side.rail);
    if (!found || !peer->has_several() || peer->presence.has_left()) return true;
    const Way& way = peer->ways[*found];
    if (!way.is_over || way.back != Way::Return::none) return true;
    if (way.retry_ns > time) return false;
    say_up(side.peer, *peer, *found);
    return true;
  });
  return retries_.size() != before;
}

std::int64_t Pairs::next_offer_ns() const noexcept {
  std::int64_t next = -1;
  for (const Drop& side : retries_) {
    const Peer* const peer = peers_[side.peer].get();
    const auto found = peer == nullptr ? std::nullopt : peer->way_of(side.rail);
    if (!found) continue;
    next = earlier_wake(next, static_cast<std::int64_t>(peer->ways[*found].retry_ns));
  }
  return next;
}

/// The offer, or the answer to one.
void Pairs::say_up(std::uint32_t number, Peer& peer, std::uint8_t way) {
  wire::BundleNews news = peer.in == nullptr ? wire::BundleNews() : peer.in->news();
  news.rail = way;
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(&news), sizeof news);
  const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, sizeof news};
  // The bundle's own have always room.
  static_cast<void>(peer.kept.add(envelope, wire::BundleWhat::up, body, KeptPackets::Rank::own));
  if (offers(number)) peer.ways[way].back = Way::Return::offered;
  stir(number, peer);
}

void Pairs::on_up(std::uint32_t number, Peer& peer, const wire::BundleNews& news) {
  if (news.rail >= peer.way_count)
    return fault(number, "it speaks of a network that is not shared");
  note_news(number, peer, news);
  if (peer.is_lost()) return;
  Way& way = peer.ways[news.rail];
  const Way::Return due = offers(number) ? Way::Return::offered : Way::Return::none;
  const bool is_over = way.ended_here && way.ended_there && way.told;
  if (!is_over || way.back != due) return fault(number, "it offers a network that has not ended");
  if (leaving_ || peer.presence.has_left()) return;
  finish_end(number, peer, static_cast<std::uint8_t>(news.rail));
  way.back = Way::Return::agreed;
  returns_.push_back({number, way.rail});
}

/// Both sides want the rail. Not while a rail is being polled.
void Pairs::take_back(const Drop& side) {
  Peer& peer = *peers_[side.peer];
  const auto found = peer.way_of(side.rail);
  if (!found || !peer.has_several() || peer.ways[*found].back != Way::Return::agreed) return;
  Way& way = peer.ways[*found];
  Member& member = rails_[side.rail];
  forget_return(way);
  if (!member.rail->readmit(side.peer)) {
    // A peer that has readmitted its own rail is told that this one has ended; the other one waits
    // for an answer, and does not offer it any more.
    if (offers(side.peer)) way.told = false;
    return stir(side.peer, peer);
  }
  way.ended_here = way.ended_there = way.told = way.is_over = false;
  way.is_connected = false;
  way.back = Way::Return::tried;
  way.speed.forget_under_way();
  member.quiet_looks = 0;
  be_patient(side.peer, peer, Network::Patience::brief);
  if (!offers(side.peer)) say_up(side.peer, peer, *found);
  stir(side.peer, peer);
}

/// Knocks at rails that were taken back, and answers there.
void Pairs::try_returned(std::uint32_t number, Peer& peer) {
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    Way& way = peer.ways[i];
    const bool knocks = way.back == Way::Return::tried && !way.has_knocked && offers(number);
    if (way.ended_here || (!knocks && way.back != Way::Return::answering)) continue;
    if (!knock(number, peer, i)) {
      stir(number, peer);
    } else if (knocks) {
      way.has_knocked = true;
    } else {
      way.back = Way::Return::none;
    }
  }
}

/// A packet has come over a way that was tried.
void Pairs::note_return(std::uint32_t number, Peer& peer, std::uint8_t way_number) {
  Way& way = peer.ways[way_number];
  way.retry_wait_ns = 0;
  way.back = offers(number) ? Way::Return::none : Way::Return::answering;
  stir(number, peer);
  ++counters_.returned_rails;
  Member& member = rails_[way.rail];
  if (!std::exchange(member.was_reported, false) || config_.report == nullptr) return;
  const std::string line = "the network " + member.label + " to rank " + std::to_string(number) +
                           " carries messages again";
  config_.report(config_.owner, line.c_str());
}

}  // namespace fulmar::fabric::bundle
