// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "fabric/bundle/pairs.h"
#include "wire/travels.h"

/// Processes that leave MPI and enter it again.
///
/// What two processes have in common, all numbers and all that is kept, is a *session* of the pair:
/// of one life of each. It ends when either of them has left. The rails end connection by
/// connection, though, each at its own time: a process may be back, and heard over one rail, while
/// the peer has not seen the end of another one, or is itself still leaving. So each packet names
/// both lives, the peer's as far as it is known, and
///
/// * one that is of an older life of its sender, or was meant for an older one of this process, is
///   dropped;
/// * one of a newer life begins the next session of the pair. The one before is over by then: who
///   comes back had been told that its last word was here, or had heard the last word of this side;
/// * a process that is still leaving says its last word in a session that begins now, too; one that
///   has said the last words of its rails drops what begins a session, and is not the one who hears
///   it. The sender finds its rails closed before anything came over them, and sends it again when
///   they are connected anew.
///
/// Connections that were made before a life and are found in it do no harm: nothing but first
/// packets, which know no life of the receiver, can be on them.
namespace fulmar::fabric::bundle {

/// Whether a packet is of the session that the pair has now, which it may begin. If not, it was
/// said why, or it is of an earlier one.
bool Pairs::is_current(std::uint32_t number, Peer& peer, const wire::BundlePacket& head) {
  if (head.to_life != 0 && head.to_life != life_) {
    ++counters_.outdated;
    if (wire::is_later_bundle_life(head.to_life, life_)) {
      fault(number, "for a session that this process has not begun");
    }
    return false;
  }
  if (head.life == peer.life) return true;
  const std::uint16_t known = peer.life != 0 ? peer.life : peer.least_life;
  const bool outdated = known != 0 && wire::is_later_bundle_life(known, head.life);
  if (outdated || rails_left_) {
    ++counters_.outdated;
    return false;
  }
  if (peer.life != 0) {
    if (!peer.fin.fin_received() && !peer.fin.fin_sent()) {
      fault(number, "of a further session, without the end of the one before");
      return false;
    }
    forget(number, peer);
  }
  peer.life = head.life;
  if (leaving_ && !peer.fin.fin_sent()) {
    say_bye(peer);
    stir(number, peer);
  }
  return true;
}

/// The connections of a rail have ended in good order.
void Pairs::rail_left(std::uint32_t rail, std::uint32_t number) {
  Peer* const peer = peers_[number].get();
  const bool several = peer != nullptr && peer->has_several();
  if (!several || !peer->has_talked()) {
    if (config_.left != nullptr) config_.left(config_.owner, number);
    return;
  }
  const auto found = peer->way_of(rail);
  if (!found || rails_left_ || peer->ways[*found].ended_here) return;
  Way& way = peer->ways[*found];
  // One of an earlier session of the pair.
  if (!way.is_connected) return;
  if (peer->life == 0) return knock_again(number, *peer, *found);
  // Who said goodbye here need not wait for the goodbye of the peer, which may have been on a rail
  // that failed.
  if (!peer->fin.fin_received() && !peer->fin.fin_sent()) {
    return end_way(number, *peer, *found,
                   base::failure(base::ErrorClass::other,
                                 "rank %u has closed its connection before its last word", number));
  }
  way.is_connected = false;
  if (!peer->is_connected()) forget(number, *peer);
}

/// The peer closed a rail before anything had come from it. If that was the last one it was
/// leaving, and took nothing of what was sent to it: all is sent again, but what nobody needs to
/// know who was away. Until then its answer may be on its way over another rail.
void Pairs::knock_again(std::uint32_t number, Peer& peer, std::uint8_t way_number) {
  peer.ways[way_number].is_connected = false;
  if (peer.out != nullptr) strand_pieces(peer, way_number);
  if (peer.primary == way_number) {
    set_primary(peer, no_way);
    peer.since_ns = 0;
    peer.kept.rewind();
  }
  if (!peer.is_connected()) {
    peer.presence.set_left();
    peer.kept.begin_again([](wire::PacketKind kind) noexcept {
      return !wire::is_about_flow(kind) && !wire::is_about_withdrawal(kind);
    });
  }
  stir(number, peer);
}

/// The session of the pair is over: the peer has left in good order, and receives nothing any more
/// that was sent to it.
void Pairs::forget(std::uint32_t number, Peer& peer) {
  if (peer.life != 0) peer.least_life = wire::bundle_life_after(peer.life);
  clear_session(peer);
  peer.presence.set_left();
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (peer.ways[i].ended_here) readmissions_.push_back({number, peer.ways[i].rail});
  }
  if (config_.left != nullptr) config_.left(config_.owner, number);
}

/// A rail that was given up in an earlier session of the pair.
void Pairs::readmit(const Drop& side) {
  Peer& peer = *peers_[side.peer];
  const auto found = peer.way_of(side.rail);
  if (!peer.has_several() || !found) return;
  Way& way = peer.ways[*found];
  if (!way.ended_here || way.told || way.ended_there) return;
  Network& rail = *rails_[side.rail].rail;
  if (!rail.readmit(side.peer)) return;
  rail.set_patience(side.peer, Network::Patience::brief);
  way.ended_here = way.is_over = false;
}

/// Keeps what is known of the rails.
void Pairs::clear_session(Peer& peer) {
  if (peer.out != nullptr) {
    OutPieces& out = *peer.out;
    for (std::uint32_t i = out.base(); i != out.next_number(); ++i) {
      if (out.at(i).state != OutPiece::State::none) conclude(out.at(i), Sent::lost);
    }
  }
  ++peer.epoch;
  peer.life = 0;
  peer.presence = {};
  peer.fin = {};
  peer.owes_news = peer.is_knocked = peer.asks_ways = peer.is_doubted = false;
  peer.kept.clear();
  peer.received = {};
  peer.silent_bytes = peer.since_ns = 0;
  peer.out.reset();
  peer.in.reset();
  set_primary(peer, no_way);
  for (Way& way : peer.ways) {
    way.is_connected = way.ended_there = way.told = false;
    forget_return(way);
    way.speed.forget_under_way();
  }
}

bool Pairs::returns() const noexcept {
  return std::all_of(rails_.begin(), rails_.end(),
                     [](const Member& member) { return member.rail->reconnects(); });
}

base::Error Pairs::resume() {
  for (Member& member : rails_) {
    if (const base::Error error = member.rail->resume(); error.failed()) return error;
    // It has a new descriptor, and the old one is closed.
    if (const base::Error error = watch(*member.rail); error.failed()) return error;
    member.under_way = 0;
    member.quiet_looks = 0;
    member.was_reported = false;
  }
  life_ = wire::bundle_life_after(life_);
  stirred_.clear();
  drops_.clear();
  readmissions_.clear();
  returns_.clear();
  retries_.clear();
  lost_.clear();
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (peers_[number] != nullptr) revive(number, peers_[number]);
  }
  leaving_ = rails_left_ = ended_ = false;
  leave_timeout_.reset();
  look_at_all_ = true;
  return {};
}

/// All rails to the peer are as if just opened.
void Pairs::revive(std::uint32_t number, std::unique_ptr<Peer>& place) {
  Peer& peer = *place;
  const std::uint16_t least = peer.life != 0 ? peer.life : peer.least_life;
  const bool was_lost = peer.is_lost();
  clear_session(peer);
  peer.least_life = least;
  peer.stirred = false;
  if (peer.way_count == 0) {
    // Those of one that was lost are looked for anew.
    if (was_lost) place = nullptr;
    return;
  }
  peer.rails = Peer::Rails::several;
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    Way& way = peer.ways[i];
    way.ended_here = way.is_over = false;
    rails_[way.rail].rail->set_patience(number, Network::Patience::brief);
  }
}

std::vector<std::uint32_t> Pairs::known_peers() const {
  std::vector<std::uint32_t> known;
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (peers_[number] != nullptr) known.push_back(number);
  }
  return known;
}

}  // namespace fulmar::fabric::bundle
