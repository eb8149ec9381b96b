// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "fabric/bundle/pairs.h"
#include "wire/travels.h"

/// Processes that leave MPI and enter it again.
///
/// The shared state of two processes (sequence numbers and kept packets) is a *session* of the pair: it
/// belongs to one life of each. It ends when either of them has left. The rails, however, end one
/// connection at a time: a process may be back, with packets over one rail, while the peer has not seen
/// the end of another rail, or is itself still leaving. So each packet names both lives, the peer's as
/// far as it is known, and
///
/// * a packet of an older life of its sender, or for an older life of this process, is dropped;
/// * a packet of a newer life begins the next session of the pair. The one before is over by then: the
///   process that came back had an acknowledgement of its `bye`, or had received this side's;
/// * a process that is still leaving sends its `bye` in a session that begins now, too; one that has
///   left its rails already drops what begins a session. The sender finds its rails closed before
///   anything came over them, and sends it again when they are connected again.
///
/// Connections that were made before a life and are still there in it do no harm: they can carry only
/// first packets, which name no life of the receiver.
namespace fulmar::fabric::bundle {

/// Whether a packet belongs to the present session of the pair, which it may begin. If not, it is of an
/// earlier session, or the peer is lost.
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
    send_bye(peer);
    schedule(number, peer);
  }
  return true;
}

/// The connections of a rail have ended in an orderly way.
void Pairs::rail_left(std::uint32_t rail, std::uint32_t number) {
  Peer* const peer = peers_[number].get();
  const bool several = peer != nullptr && peer->has_several();
  if (!several || !peer->has_traffic()) {
    if (config_.left != nullptr) config_.left(config_.owner, number);
    return;
  }
  const auto found = peer->path_of(rail);
  if (!found || rails_left_ || peer->paths[*found].ended_here) return;
  Path& path = peer->paths[*found];
  // That connection was of an earlier session of the pair.
  if (!path.is_connected) return;
  if (peer->life == 0) return send_first_again(number, *peer, *found);
  // Once this side has sent `bye`, the peer's is not needed: it may have been on a rail that failed.
  if (!peer->fin.fin_received() && !peer->fin.fin_sent()) {
    return end_path(
        number, *peer, *found,
        base::failure(base::ErrorClass::other,
                      "rank %u has closed its connection before its last word", number));
  }
  path.is_connected = false;
  if (!peer->is_connected()) forget(number, *peer);
}

/// The peer closed a rail before anything had come from it. If that was the last rail, the peer was
/// leaving and took nothing of what was sent to it: everything is sent again, except packets that only
/// concern a process that stayed. Until then its answer may be in flight on another rail.
void Pairs::send_first_again(std::uint32_t number, Peer& peer, std::uint8_t path_number) {
  peer.paths[path_number].is_connected = false;
  if (peer.out != nullptr) strand_pieces(peer, path_number);
  if (peer.primary == path_number) {
    set_primary(peer, no_path);
    peer.since_ns = 0;
    peer.kept.rewind();
  }
  if (!peer.is_connected()) {
    peer.presence.set_left();
    peer.kept.begin_again([](wire::PacketKind kind) noexcept {
      return !wire::is_about_flow(kind) && !wire::is_about_withdrawal(kind);
    });
  }
  schedule(number, peer);
}

/// The session of the pair is over: the peer has left in an orderly way, and receives nothing more of
/// what was sent to it.
void Pairs::forget(std::uint32_t number, Peer& peer) {
  if (peer.life != 0) peer.least_life = wire::bundle_life_after(peer.life);
  clear_session(peer);
  peer.presence.set_left();
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (peer.paths[i].ended_here) readmissions_.push_back({number, peer.paths[i].rail});
  }
  if (config_.left != nullptr) config_.left(config_.owner, number);
}

/// Readmits a rail that was given up in an earlier session of the pair.
void Pairs::readmit(const Drop& side) {
  Peer& peer = *peers_[side.peer];
  const auto found = peer.path_of(side.rail);
  if (!peer.has_several() || !found) return;
  Path& path = peer.paths[*found];
  if (!path.ended_here || path.down_sent || path.ended_there) return;
  Network& rail = *rails_[side.rail].rail;
  if (!rail.readmit(side.peer)) return;
  rail.set_patience(side.peer, Network::Patience::brief);
  path.ended_here = path.is_over = false;
}

/// Resets the state of the session; the paths and their measured rates stay.
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
  peer.ack_due = peer.sent_unnumbered = peer.checks_paths = peer.is_suspect = false;
  peer.kept.clear();
  peer.received = {};
  peer.unacked_bytes = peer.since_ns = 0;
  peer.out.reset();
  peer.in.reset();
  set_primary(peer, no_path);
  for (Path& path : peer.paths) {
    path.is_connected = path.ended_there = path.down_sent = false;
    forget_return(path);
    path.speed.forget_under_way();
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
    member.idle_polls = 0;
    member.was_reported = false;
  }
  life_ = wire::bundle_life_after(life_);
  scheduled_.clear();
  drops_.clear();
  readmissions_.clear();
  returns_.clear();
  retries_.clear();
  lost_.clear();
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (peers_[number] != nullptr) restart(number, peers_[number]);
  }
  leaving_ = rails_left_ = ended_ = false;
  leave_timeout_.reset();
  poll_all_ = true;
  return {};
}

/// All rails to the peer are as if just opened.
void Pairs::restart(std::uint32_t number, std::unique_ptr<Peer>& place) {
  Peer& peer = *place;
  const std::uint16_t least = peer.life != 0 ? peer.life : peer.least_life;
  const bool was_lost = peer.is_lost();
  clear_session(peer);
  peer.least_life = least;
  peer.is_scheduled = false;
  if (peer.path_count == 0) {
    // The rails of a peer that was lost are matched again.
    if (was_lost) place = nullptr;
    return;
  }
  peer.rails = Peer::Rails::several;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    Path& path = peer.paths[i];
    path.ended_here = path.is_over = false;
    rails_[path.rail].rail->set_patience(number, Network::Patience::brief);
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
