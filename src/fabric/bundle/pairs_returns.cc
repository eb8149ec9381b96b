// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <span>
#include <string>

#include "fabric/bundle/pairs.h"

/// Rails that are back within a session: a cable is plugged in again, a switch has restarted.
///
/// A path is over when both sides have sent `down` (pairs_rails.cc). After a while the side with the
/// lower name offers it by `up`, ordered, over the remaining paths. The other side readmits its rail, so
/// that it accepts connections from the peer, and answers by `up`; then the first side readmits its own
/// rail and connects. Nothing old can come over it: both sides had dropped its connections.
///
/// Until a packet has come over it a path is *on trial*: it gets no packet that another path could
/// carry, because connected queues say nothing about the wire. The side that offered sends a first
/// packet, the other one answers over the same path, and each uses it from the first packet received.
///
/// If it fails again it ends as any path does, and the time to the next offer doubles. There is no
/// retry if the peer has left or this process leaves: the next session begins with all rails.
namespace fulmar::fabric::bundle {
namespace {

constexpr std::uint64_t first_retry_ns = 5'000'000'000;
constexpr std::uint64_t longest_retry_ns = 300'000'000'000;

}  // namespace

/// Only one of the two processes offers, so that offers cannot cross.
bool Pairs::offers(std::uint32_t number) const {
  return config_.processes->own_name() < config_.processes->name_of(number);
}

void Pairs::forget_return(Path& path) noexcept {
  path.back = Path::Return::none;
  path.has_tried = false;
}

/// Called when a path is over.
void Pairs::plan_return(std::uint32_t number, Path& path) {
  if (!offers(number)) return;
  path.retry_wait_ns = std::clamp(2 * path.retry_wait_ns, first_retry_ns, longest_retry_ns);
  path.retry_ns = now() + path.retry_wait_ns;
  retries_.push_back({number, path.rail});
}

/// True if any was offered.
bool Pairs::offer_returns() {
  if (leaving_) return false;
  const std::uint64_t time = now();
  const std::size_t before = retries_.size();
  std::erase_if(retries_, [&](const Drop& side) {
    Peer* const peer = peers_[side.peer].get();
    const auto found = peer == nullptr ? std::nullopt : peer->path_of(side.rail);
    if (!found || !peer->has_several() || peer->presence.has_left()) return true;
    const Path& path = peer->paths[*found];
    if (!path.is_over || path.back != Path::Return::none) return true;
    if (path.retry_ns > time) return false;
    send_up(side.peer, *peer, *found);
    return true;
  });
  return retries_.size() != before;
}

std::int64_t Pairs::next_offer_ns() const noexcept {
  std::int64_t next = -1;
  for (const Drop& side : retries_) {
    const Peer* const peer = peers_[side.peer].get();
    const auto found = peer == nullptr ? std::nullopt : peer->path_of(side.rail);
    if (!found) continue;
    next = earlier_wake(next, static_cast<std::int64_t>(peer->paths[*found].retry_ns));
  }
  return next;
}

/// The offer, or the answer to one.
void Pairs::send_up(std::uint32_t number, Peer& peer, std::uint8_t path) {
  wire::BundleAck ack = peer.in == nullptr ? wire::BundleAck() : peer.in->ack();
  ack.rail = path;
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(&ack), sizeof ack);
  const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, sizeof ack};
  // Control packets are always taken.
  static_cast<void>(peer.kept.add(envelope, wire::BundleWhat::up, body, KeptPackets::Rank::own));
  if (offers(number)) peer.paths[path].back = Path::Return::offered;
  schedule(number, peer);
}

void Pairs::on_up(std::uint32_t number, Peer& peer, const wire::BundleAck& ack) {
  if (ack.rail >= peer.path_count)
    return fault(number, "it speaks of a network that is not shared");
  note_piece_ack(number, peer, ack);
  if (peer.is_lost()) return;
  Path& path = peer.paths[ack.rail];
  const Path::Return due = offers(number) ? Path::Return::offered : Path::Return::none;
  const bool is_over = path.ended_here && path.ended_there && path.down_sent;
  if (!is_over || path.back != due) return fault(number, "it offers a network that has not ended");
  if (leaving_ || peer.presence.has_left()) return;
  finish_end(number, peer, static_cast<std::uint8_t>(ack.rail));
  path.back = Path::Return::agreed;
  returns_.push_back({number, path.rail});
}

/// Both sides have sent `up`. Not while a rail is being polled.
void Pairs::take_back(const Drop& side) {
  Peer& peer = *peers_[side.peer];
  const auto found = peer.path_of(side.rail);
  if (!found || !peer.has_several() || peer.paths[*found].back != Path::Return::agreed) return;
  Path& path = peer.paths[*found];
  Member& member = rails_[side.rail];
  forget_return(path);
  if (!member.rail->readmit(side.peer)) {
    // If the peer has readmitted its rail it gets another `down`; a peer that waits for an answer does
    // not offer this rail again.
    if (offers(side.peer)) path.down_sent = false;
    return schedule(side.peer, peer);
  }
  path.ended_here = path.ended_there = path.down_sent = path.is_over = false;
  path.is_connected = false;
  path.back = Path::Return::tried;
  path.speed.forget_under_way();
  member.idle_polls = 0;
  set_patience(side.peer, peer, Network::Patience::brief);
  if (!offers(side.peer)) send_up(side.peer, peer, *found);
  schedule(side.peer, peer);
}

/// Sends the first packet over rails that were readmitted, and answers there.
void Pairs::try_returned(std::uint32_t number, Peer& peer) {
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    Path& path = peer.paths[i];
    const bool tries = path.back == Path::Return::tried && !path.has_tried && offers(number);
    if (path.ended_here || (!tries && path.back != Path::Return::answering)) continue;
    if (!send_first(number, peer, i)) {
      schedule(number, peer);
    } else if (tries) {
      path.has_tried = true;
    } else {
      path.back = Path::Return::none;
    }
  }
}

/// A packet has come over a path on trial.
void Pairs::note_return(std::uint32_t number, Peer& peer, std::uint8_t path_number) {
  Path& path = peer.paths[path_number];
  path.retry_wait_ns = 0;
  path.back = offers(number) ? Path::Return::none : Path::Return::answering;
  schedule(number, peer);
  ++counters_.returned_rails;
  Member& member = rails_[path.rail];
  if (!std::exchange(member.was_reported, false) || config_.report == nullptr) return;
  const std::string line = "the network " + member.label + " to rank " + std::to_string(number) +
                           " carries messages again";
  config_.report(config_.owner, line.c_str());
}

}  // namespace fulmar::fabric::bundle
