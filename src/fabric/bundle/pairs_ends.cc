// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdio>

#include "fabric/bundle/pairs.h"

/// Leaving, and what people are told.
namespace fulmar::fabric::bundle {
namespace {

/// How long a process that leaves waits for the acknowledgements of peers that have said goodbye:
/// they have what it sent, and may be gone already.
constexpr std::int64_t farewell_ns = 2'000'000'000;

std::string text_of_bytes(double bytes) {
  char text[32];
  const char* unit = bytes < 1e6 ? "kB" : bytes < 1e9 ? "MB" : "GB";
  const double scale = bytes < 1e6 ? 1e3 : bytes < 1e9 ? 1e6 : 1e9;
  std::snprintf(text, sizeof text, "%.3g %s", bytes / scale, unit);
  return text;
}

}  // namespace

void Pairs::leave(Leaving how) {
  leaving_ = true;
  how_ = how;
  end_dropped();
  farewell_ends_ns_ = static_cast<std::int64_t>(now()) + farewell_ns;
  for (std::uint32_t number = 0; number < config_.size; ++number) {
    Peer* const peer = peers_[number].get();
    if (peer == nullptr || peer->state != Peer::State::several || !peer->has_talked()) continue;
    say_bye(*peer);
    stir(number, *peer);
  }
  advance_leaving();
}

/// The last packet in order.
void Pairs::say_bye(Peer& peer) {
  announce_ends(peer);
  const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, 0};
  peer.said_bye = peer.kept.add(envelope, wire::BundleWhat::bye, {}, KeptPackets::Rank::own);
}

/// The peer has all that was sent to it, and has been told all that it waits for.
bool Pairs::is_parted(const Peer& peer) const noexcept {
  if (peer.state != Peer::State::several || !peer.has_talked()) return true;
  const bool late = static_cast<std::int64_t>(now()) >= farewell_ends_ns_;
  if (peer.has_bye && late) return true;
  if (peer.owes_news || peer.has_pieces()) return false;
  // Who has said goodbye itself may be gone before it acknowledges ours; but ours has to be on its
  // way ahead of the rails' own, or it looks as if this process had died.
  const bool only_bye = peer.said_bye && peer.kept.count() == 1 && peer.kept.unsent_count() == 0;
  return peer.kept.empty() || (peer.has_bye && only_bye);
}

void Pairs::advance_leaving() {
  for (const auto& peer : peers_) {
    if (peer != nullptr && !is_parted(*peer)) return;
  }
  for (std::uint32_t number = 0; number < config_.size; ++number) {
    Peer* const peer = peers_[number].get();
    if (peer == nullptr || peer->state != Peer::State::several) continue;
    if (peer->acknowledged != peer->received) static_cast<void>(pay_news(number, *peer));
  }
  rails_left_ = true;
  for (const Member& member : rails_) member.rail->leave(how_);
}

bool Pairs::parted() const noexcept {
  return rails_left_ && std::all_of(rails_.begin(), rails_.end(),
                                    [](const Member& member) { return member.rail->parted(); });
}

void Pairs::end() noexcept {
  ended_ = true;
  for (const Member& member : rails_) member.rail->end();
}

void Pairs::close() noexcept {
  for (const Member& member : rails_) member.rail->close();
}

/// Its last word has come in order, behind all else; the rails' own last words tell the rest.
bool Pairs::gone(std::uint32_t number) const noexcept {
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->state == Peer::State::lost) return false;
  if (peer->state == Peer::State::single) return rails_[peer->rail].rail->gone(number);
  if (!peer->has_bye && !peer->has_left) return false;
  const std::span<const Way> ways(peer->ways.data(), peer->way_count);
  return std::any_of(ways.begin(), ways.end(),
                     [&](const Way& way) { return rails_[way.rail].rail->gone(number); });
}

void Pairs::rail_left(std::uint32_t rail, std::uint32_t number) {
  Peer* const peer = peers_[number].get();
  const bool several = peer != nullptr && peer->state == Peer::State::several;
  if (!several || !peer->has_talked()) {
    if (config_.left != nullptr) config_.left(config_.owner, number);
    return;
  }
  const auto way = peer->way_of(rail);
  if (!way || rails_left_ || peer->ways[*way].ended_here) return;
  if (!peer->has_bye) {
    return end_way(number, *peer, *way,
                   base::failure(base::ErrorClass::other,
                                 "rank %u has closed its connection before its last word", number));
  }
  peer->ways[*way].is_connected = false;
  for (std::uint8_t i = 0; i < peer->way_count; ++i) {
    if (peer->ways[i].is_connected) return;
  }
  forget(number, *peer);
}

/// The peer has left in good order.
void Pairs::forget(std::uint32_t number, Peer& peer) {
  if (peer.out != nullptr) {
    OutPieces& out = *peer.out;
    for (std::uint32_t i = out.base(); i != out.next_number(); ++i) {
      if (out.at(i).state != OutPiece::State::none) conclude(out.at(i), Sent::lost);
    }
  }
  ++peer.epoch;
  peer.has_left = true;
  peer.has_bye = peer.said_bye = peer.owes_news = peer.is_heard = false;
  peer.kept.clear();
  peer.received = peer.acknowledged = 0;
  peer.silent_bytes = peer.since_ns = 0;
  peer.out.reset();
  peer.in.reset();
  set_primary(peer, no_way);
  // What was given up stays so: the provider takes no further connection for it.
  for (Way& way : peer.ways) {
    way.is_connected = way.ended_there = way.told = false;
    way.speed.forget_under_way();
  }
  if (config_.left != nullptr) config_.left(config_.owner, number);
}

std::vector<Pairs::WayFigures> Pairs::figures_of(std::uint32_t number) const {
  std::vector<WayFigures> figures;
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->state == Peer::State::single) return figures;
  for (std::uint8_t i = 0; i < peer->way_count; ++i) {
    const Way& way = peer->ways[i];
    figures.push_back({rails_[way.rail].label, !way.ended_here, way.sent_bytes,
                       way.speed.is_measured() ? way.speed.bytes_per_second() : 0});
  }
  return figures;
}

const char* Pairs::name_of(std::uint32_t number) const noexcept {
  const Peer* const peer = peers_[number].get();
  const bool single = peer != nullptr && peer->state == Peer::State::single;
  return single ? rails_[peer->rail].rail->name() : "rails";
}

std::string Pairs::text_of(std::uint32_t number) const {
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr) return {};
  if (peer->state == Peer::State::single) return rails_[peer->rail].label;
  std::string text;
  for (const WayFigures& way : figures_of(number)) {
    text += (text.empty() ? "" : ", ") + way.label + " ";
    if (!way.is_up) {
      text += "given up";
      continue;
    }
    text += text_of_bytes(static_cast<double>(way.sent_bytes));
    if (way.bytes_per_second > 0) text += " at " + text_of_bytes(way.bytes_per_second) + "/s";
  }
  return text;
}

}  // namespace fulmar::fabric::bundle
