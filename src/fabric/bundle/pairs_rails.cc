// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <span>

#include "fabric/bundle/pairs.h"

/// The end of rails, and of peers.
///
/// A way (a rail as a pair sees it) ends here when its provider has lost the peer, or when the peer
/// says that it has ended there. Then it is taken out of use, at the end of the poll the provider
/// drops the peer, and after that `down` is told: from there on nothing more can come by it, so
/// what `down` says about pieces is final. When both have said so, the pieces that were under way
/// there and did not come are stranded, and wait for another way.
namespace fulmar::fabric::bundle {
namespace {

using base::ErrorClass;
using base::failure;

}  // namespace

base::Result<std::vector<std::byte>> RailOwner::find(void* owner, std::uint32_t peer) {
  const RailOwner& seat = *static_cast<RailOwner*>(owner);
  return seat.pairs->find_on(seat.rail, peer);
}

void RailOwner::lost(void* owner, std::uint32_t peer, const base::Error& why) {
  const RailOwner& seat = *static_cast<RailOwner*>(owner);
  seat.pairs->rail_lost(seat.rail, peer, why);
}

void RailOwner::left(void* owner, std::uint32_t peer) {
  const RailOwner& seat = *static_cast<RailOwner*>(owner);
  seat.pairs->rail_left(seat.rail, peer);
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
  const auto way = peer.way_of(rail);
  if (way) end_way(number, peer, *way, why);
}

void Pairs::end_way(std::uint32_t number, Peer& peer, std::uint8_t way_number,
                    const base::Error& why) {
  Way& way = peer.ways[way_number];
  if (way.ended_here) return;
  way.ended_here = true;
  way.is_connected = false;
  forget_return(way);
  way.why = why;
  way.ended_ns = now();
  drops_.push_back({number, way.rail});
  if (peer.ways_up() == 0) {
    // Who has said goodbye and closes its connections has left, whatever becomes of the last of
    // them.
    if (peer.fin.fin_received()) return forget(number, peer);
    return lose(number, last_words(peer));
  }
  peer.asks_ways = peer.is_doubted = true;
  if (peer.ways_up() == 1) be_patient(number, peer, Network::Patience::rest);
  if (peer.primary == way_number) {
    counters_.resent_packets += peer.kept.sent_count();
    set_primary(peer, no_way);
    peer.kept.rewind();
    peer.since_ns = now();
  }
  owe_news(number, peer);
}

void Pairs::be_patient(std::uint32_t number, const Peer& peer, Network::Patience patience) {
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (peer.ways[i].ended_here) continue;
    rails_[peer.ways[i].rail].rail->set_patience(number, patience);
  }
}

/// The peer lives: the last way to it is given the time that a network alone has.
void Pairs::end_doubt(std::uint32_t number, Peer& peer) {
  peer.is_doubted = false;
  if (peer.ways_up() == 1) be_patient(number, peer, Network::Patience::usual);
}

/// Silence counts from when there is something to answer. If a way that has been idle were not
/// asked now, its end would be known that much later, when it is needed.
void Pairs::ask_ways(std::uint32_t number, Peer& peer) {
  if (peer.presence.has_left() || rails_left_) return;
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (!peer.ways[i].is_connected || peer.ways[i].ended_here) continue;
    // One that takes nothing now has something to answer.
    static_cast<void>(post_news(number, peer, i, wire::bundle_news_kind));
  }
  flush();
}

void Pairs::on_down(std::uint32_t number, Peer& peer, const wire::BundleNews& news) {
  if (news.rail >= peer.way_count)
    return fault(number, "it speaks of a network that is not shared");
  note_news(number, peer, news);
  if (peer.is_lost()) return;
  Way& way = peer.ways[news.rail];
  way.ended_there = true;
  if (way.back == Way::Return::agreed) {
    // It has taken the rail back, and lost it again, before this side has: each says the end once more.
    forget_return(way);
    way.told = false;
    plan_return(number, way);
  }
  end_way(number, peer, static_cast<std::uint8_t>(news.rail),
          failure(ErrorClass::other, "rank %u has given it up", number));
  if (peer.has_several()) stir(number, peer);
}

void Pairs::announce_ends(Peer& peer) {
  for (std::uint32_t i = 0; i < peer.way_count; ++i) {
    Way& way = peer.ways[i];
    if (!way.ended_here || way.told) continue;
    wire::BundleNews news = peer.in == nullptr ? wire::BundleNews() : peer.in->news();
    news.rail = i;
    const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(&news), sizeof news);
    const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, sizeof news};
    way.told = peer.kept.add(envelope, wire::BundleWhat::down, body, KeptPackets::Rank::own);
  }
}

/// Both sides of the way have ended: what had not come by it never will.
void Pairs::finish_end(std::uint32_t number, Peer& peer, std::uint8_t way_number) {
  Way& way = peer.ways[way_number];
  if (std::exchange(way.is_over, true)) return;
  report_end(number, peer, way);
  way.speed.forget_under_way();
  if (peer.out != nullptr) strand_pieces(peer, way_number);
  plan_return(number, way);
}

/// What is under way there never arrives.
void Pairs::strand_pieces(Peer& peer, std::uint8_t way_number) {
  peer.ways[way_number].speed.forget_under_way();
  OutPieces& out = *peer.out;
  for (std::uint32_t i = out.base(); i != out.next_number(); ++i) {
    OutPiece& piece = out.at(i);
    if (piece.state == OutPiece::State::under_way && piece.way == way_number) {
      piece.state = OutPiece::State::stranded;
    }
  }
}

/// Sends stranded pieces that no rail holds any more. True if any went out.
bool Pairs::send_stranded(std::uint32_t number, Peer& peer) {
  OutPieces& out = *peer.out;
  bool moved = false;
  for (std::uint32_t piece_number = out.base(); piece_number != out.next_number(); ++piece_number) {
    const OutPiece& piece = out.at(piece_number);
    if (piece.state != OutPiece::State::stranded) continue;
    stir(number, peer);
    if (piece.held) continue;
    poke(number, peer);
    const std::uint8_t way = best_way(peer, piece.envelope.length);
    if (way == no_way || send_piece(number, peer, piece_number, way) == Post::again) break;
    ++counters_.resent_pieces;
    moved = true;
  }
  return moved;
}

/// One line for each rail, however many peers are concerned: they have a cause in common.
void Pairs::report_end(std::uint32_t number, const Peer& peer, const Way& way) {
  Member& member = rails_[way.rail];
  ++counters_.dropped_rails;
  if (std::exchange(member.was_reported, true) || config_.report == nullptr) return;
  std::string others;
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (peer.ways[i].ended_here) continue;
    others += (others.empty() ? "" : ", ") + rails_[peer.ways[i].rail].label;
  }
  const std::string line = "the network " + member.label + " to rank " + std::to_string(number) +
                           " is given up: " + way.why.text() + "; messages go over " + others;
  config_.report(config_.owner, line.c_str());
}

/// Why a peer cannot be reached any more: what was wrong first is nearest to the cause, and what
/// was wrong last has ended it.
base::Error Pairs::last_words(const Peer& peer) const {
  const std::span<const Way> ways(peer.ways.data(), peer.way_count);
  const auto [first, last] = std::minmax_element(
      ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.ended_ns < b.ended_ns; });
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
  set_primary(peer, no_way);
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (!peer.ways[i].ended_here) drops_.push_back({number, peer.ways[i].rail});
    peer.ways[i].ended_here = true;
  }
  if (peer.way_count == 0) drops_.push_back({number, peer.rail});
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
