// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <span>

#include "fabric/bundle/pairs.h"

/// Failure of rails, and of peers.
///
/// A path (a rail as a pair sees it) ends here when its provider has lost the peer, or when the peer
/// has sent `down` for it. It is taken out of use, at the end of the poll the provider drops the peer,
/// and after that `down` is sent: nothing more can come over the path, so what `down` says about
/// pieces is final. When both sides have sent it, pieces that were in flight there and did not arrive
/// are stranded, and are sent over another path.
namespace fulmar::fabric::bundle {
namespace {

using base::ErrorClass;
using base::failure;

}  // namespace

base::Result<std::vector<std::byte>> RailOwner::find(void* owner, std::uint32_t peer) {
  const RailOwner& rail_owner = *static_cast<RailOwner*>(owner);
  return rail_owner.pairs->find_on(rail_owner.rail, peer);
}

void RailOwner::lost(void* owner, std::uint32_t peer, const base::Error& why) {
  const RailOwner& rail_owner = *static_cast<RailOwner*>(owner);
  rail_owner.pairs->rail_lost(rail_owner.rail, peer, why);
}

void RailOwner::left(void* owner, std::uint32_t peer) {
  const RailOwner& rail_owner = *static_cast<RailOwner*>(owner);
  rail_owner.pairs->rail_left(rail_owner.rail, peer);
}

void RailOwner::report(void* owner, const char* line) {
  const Config& config = static_cast<RailOwner*>(owner)->pairs->config_;
  if (config.report != nullptr) config.report(config.owner, line);
}

base::Result<std::vector<std::byte>> Pairs::find_on(std::uint32_t rail,
                                                    std::uint32_t number) const {
  auto rails = rails_of(number);
  if (rails.failed()) return rails.error();
  for (wire::BundleRail& each : *rails) {
    if (each.label == rails_[rail].label) return std::move(each.address);
  }
  return failure(ErrorClass::other, "rank %u has no network %s", number,
                 rails_[rail].label.c_str());
}

void Pairs::rail_lost(std::uint32_t rail, std::uint32_t number, const base::Error& why) {
  if (rails_left_) return;
  Peer& peer = peer_at(number);
  if (peer.is_lost()) return;
  if (peer.has_single()) {
    if (peer.rail == rail) lose(number, why);
    return;
  }
  const auto path = peer.path_of(rail);
  if (path) end_path(number, peer, *path, why);
}

void Pairs::end_path(std::uint32_t number, Peer& peer, std::uint8_t path_number,
                     const base::Error& why) {
  Path& path = peer.paths[path_number];
  if (path.ended_here) return;
  path.ended_here = true;
  path.is_connected = false;
  forget_return(path);
  path.why = why;
  path.ended_ns = now();
  drops_.push_back({number, path.rail});
  if (peer.paths_up() == 0) {
    // A peer that has sent `bye` and closes its connections has left, however the last of them ends.
    if (peer.fin.fin_received()) return forget(number, peer);
    return lose(number, loss_error(peer));
  }
  peer.checks_paths = peer.is_suspect = true;
  if (peer.paths_up() == 1) set_patience(number, peer, Network::Patience::rest);
  if (peer.primary == path_number) {
    counters_.resent_packets += peer.kept.sent_count();
    set_primary(peer, no_path);
    peer.kept.rewind();
    peer.since_ns = now();
  }
  request_ack(number, peer);
}

void Pairs::set_patience(std::uint32_t number, const Peer& peer, Network::Patience patience) {
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (peer.paths[i].ended_here) continue;
    rails_[peer.paths[i].rail].rail->set_patience(number, patience);
  }
}

/// The peer is alive: the last path to it gets the usual timeout.
void Pairs::end_suspicion(std::uint32_t number, Peer& peer) {
  peer.is_suspect = false;
  if (peer.paths_up() == 1) set_patience(number, peer, Network::Patience::usual);
}

/// Silence is measured from the first unanswered packet. Without this probe the failure of an idle path
/// would be detected only when that path is needed.
void Pairs::check_paths(std::uint32_t number, Peer& peer) {
  if (peer.presence.has_left() || rails_left_) return;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (!peer.paths[i].is_connected || peer.paths[i].ended_here) continue;
    // A path that takes nothing now has something unanswered already.
    static_cast<void>(post_ack(number, peer, i, wire::bundle_ack_kind));
  }
  flush();
}

void Pairs::on_down(std::uint32_t number, Peer& peer, const wire::BundleAck& ack) {
  if (ack.rail >= peer.path_count)
    return fault(number, "it speaks of a network that is not shared");
  note_piece_ack(number, peer, ack);
  if (peer.is_lost()) return;
  Path& path = peer.paths[ack.rail];
  path.ended_there = true;
  if (path.back == Path::Return::agreed) {
    // The peer has readmitted the rail and lost it again before this side has: both send `down` again.
    forget_return(path);
    path.down_sent = false;
    plan_return(number, path);
  }
  end_path(number, peer, static_cast<std::uint8_t>(ack.rail),
           failure(ErrorClass::other, "rank %u has given it up", number));
  if (peer.has_several()) schedule(number, peer);
}

void Pairs::announce_ends(Peer& peer) {
  for (std::uint32_t i = 0; i < peer.path_count; ++i) {
    Path& path = peer.paths[i];
    if (!path.ended_here || path.down_sent) continue;
    wire::BundleAck ack = peer.in == nullptr ? wire::BundleAck() : peer.in->ack();
    ack.rail = i;
    const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(&ack), sizeof ack);
    const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, sizeof ack};
    path.down_sent = peer.kept.add(envelope, wire::BundleWhat::down, body, KeptPackets::Rank::own);
  }
}

/// Both sides of the path have ended: what had not arrived over it never will.
void Pairs::finish_end(std::uint32_t number, Peer& peer, std::uint8_t path_number) {
  Path& path = peer.paths[path_number];
  if (std::exchange(path.is_over, true)) return;
  report_end(number, peer, path);
  path.speed.forget_under_way();
  if (peer.out != nullptr) strand_pieces(peer, path_number);
  plan_return(number, path);
}

/// Pieces in flight on this path will not arrive.
void Pairs::strand_pieces(Peer& peer, std::uint8_t path_number) {
  peer.paths[path_number].speed.forget_under_way();
  OutPieces& out = *peer.out;
  for (std::uint32_t i = out.base(); i != out.next_number(); ++i) {
    OutPiece& piece = out.at(i);
    if (piece.state == OutPiece::State::under_way && piece.path == path_number) {
      piece.state = OutPiece::State::stranded;
    }
  }
}

/// Sends stranded pieces whose memory no rail holds any more. True if any was sent.
bool Pairs::send_stranded(std::uint32_t number, Peer& peer) {
  OutPieces& out = *peer.out;
  bool moved = false;
  for (std::uint32_t piece_number = out.base(); piece_number != out.next_number(); ++piece_number) {
    const OutPiece& piece = out.at(piece_number);
    if (piece.state != OutPiece::State::stranded) continue;
    schedule(number, peer);
    if (piece.held) continue;
    try_unconnected(number, peer);
    const std::uint8_t path = best_path(peer, piece.envelope.length);
    if (path == no_path || send_piece(number, peer, piece_number, path) == Post::again) break;
    ++counters_.resent_pieces;
    moved = true;
  }
  return moved;
}

/// One message for each rail, however many peers are concerned: they have a cause in common.
void Pairs::report_end(std::uint32_t number, const Peer& peer, const Path& path) {
  Member& member = rails_[path.rail];
  ++counters_.dropped_rails;
  if (std::exchange(member.was_reported, true) || config_.report == nullptr) return;
  std::string others;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (peer.paths[i].ended_here) continue;
    others += (others.empty() ? "" : ", ") + rails_[peer.paths[i].rail].label;
  }
  const std::string line = "the network " + member.label + " to rank " + std::to_string(number) +
                           " is given up: " + path.why.text() + "; messages go over " + others;
  config_.report(config_.owner, line.c_str());
}

/// Why a peer is lost: the first failure is nearest to the cause, the last one has ended the
/// connection.
base::Error Pairs::loss_error(const Peer& peer) const {
  const std::span<const Path> paths(peer.paths.data(), peer.path_count);
  const auto [first, last] =
      std::minmax_element(paths.begin(), paths.end(),
                          [](const Path& a, const Path& b) { return a.ended_ns < b.ended_ns; });
  if (first->why.text() == last->why.text()) {
    return failure(ErrorClass::proc_aborted, "%s; no other network leads there any more",
                   first->why.text().c_str());
  }
  return failure(
      ErrorClass::proc_aborted, "%s; no other network leads there any more, last over %s: %s",
      first->why.text().c_str(), rails_[last->rail].label.c_str(), last->why.text().c_str());
}

void Pairs::lose(std::uint32_t number, const base::Error& why) {
  Peer& peer = *peers_[number];
  if (!peer.presence.lose(why)) return;
  set_primary(peer, no_path);
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (!peer.paths[i].ended_here) drops_.push_back({number, peer.paths[i].rail});
    peer.paths[i].ended_here = true;
  }
  if (peer.path_count == 0) drops_.push_back({number, peer.rail});
  if (peer.out != nullptr) {
    OutPieces& out = *peer.out;
    for (std::uint32_t i = out.base(); i != out.next_number(); ++i) {
      OutPiece& piece = out.at(i);
      if (!piece.held && piece.state != OutPiece::State::none) conclude(piece, Sent::lost);
    }
  }
  peer.kept.clear();
  lost_.push_back(number);
}

bool Pairs::reap() {
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    if (config_.lost != nullptr)
      config_.lost(config_.owner, lost_[i], peers_[lost_[i]]->presence.why());
  }
  lost_.clear();
  return true;
}

}  // namespace fulmar::fabric::bundle
