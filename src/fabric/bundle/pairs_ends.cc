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
constexpr std::int64_t leave_timeout_ns = 2'000'000'000;

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
  leave_timeout_.start(static_cast<std::int64_t>(now()), leave_timeout_ns);
  for (std::uint32_t number = 0; number < size(); ++number) {
    Peer* const peer = peers_[number].get();
    if (peer == nullptr || !peer->has_several() || !peer->has_talked()) continue;
    say_bye(*peer);
    stir(number, *peer);
  }
  static_cast<void>(advance_leaving());
}

/// The last packet in order.
void Pairs::say_bye(Peer& peer) {
  announce_ends(peer);
  const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, 0};
  const std::uint32_t number = peer.kept.next_number();
  const bool said = peer.kept.add(envelope, wire::BundleWhat::bye, {}, KeptPackets::Rank::own);
  if (said) peer.fin.note_fin_sent(number);
}

/// The peer has all that was sent to it, and has been told all that it waits for; or nothing has
/// come from it since it was away, and it never comes back.
bool Pairs::is_parted(std::uint32_t number, const Peer& peer) const noexcept {
  if (!peer.has_several() || !peer.has_talked()) return true;
  if (peer.life == 0 && gone(number)) return true;
  const bool has_fin = peer.fin.fin_received();
  if (has_fin && (leave_timeout_.expired() || takes_nothing(number, peer))) return true;
  if (peer.owes_news || peer.has_pieces()) return false;
  if (peer.kept.empty()) return true;
  // Who has said goodbye itself may be gone before it acknowledges ours; but ours has to be on its
  // way ahead of the rails' own, or it looks as if this process had died.
  const bool only_fin = peer.fin.fin_sent() && peer.kept.count() == 1;
  return has_fin && only_fin && !peer.kept.has_unsent();
}

/// The rails of the peer are closing: it waits for nothing of this process any more.
bool Pairs::takes_nothing(std::uint32_t number, const Peer& peer) const noexcept {
  const std::span<const Way> ways(peer.ways.data(), peer.way_count);
  return std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    return way.is_connected && rails_[way.rail].rail->closing(number);
  });
}

/// True when the rails leave from now on: a movement, as it may be all that `parted` has waited
/// for.
bool Pairs::advance_leaving() {
  const bool expires = leave_timeout_.expire(static_cast<std::int64_t>(now()));
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (peers_[number] != nullptr && !is_parted(number, *peers_[number])) return expires;
  }
  for (std::uint32_t number = 0; number < size(); ++number) {
    Peer* const peer = peers_[number].get();
    if (peer == nullptr || !peer->has_several()) continue;
    if (peer->received.unacknowledged() != 0) static_cast<void>(pay_news(number, *peer));
  }
  rails_left_ = true;
  for (const Member& member : rails_) member.rail->leave(how_);
  return true;
}

bool Pairs::quiesced() const noexcept {
  return rails_left_ && std::all_of(rails_.begin(), rails_.end(),
                                    [](const Member& member) { return member.rail->quiesced(); });
}

void Pairs::end() noexcept {
  ended_ = true;
  for (const Member& member : rails_) member.rail->end();
}

void Pairs::close() noexcept {
  for (const Member& member : rails_) member.rail->close();
}

/// Its last word has come in order, behind all else; the rails' own last words tell the rest. One
/// that was never met is gone where no rail finds anybody.
bool Pairs::gone(std::uint32_t number) const noexcept {
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->is_lost()) return false;
  if (peer->has_single()) return rails_[peer->rail].rail->gone(number);
  const std::span<const Way> ways(peer->ways.data(), peer->way_count);
  const auto gone_there = [&](const Way& way) { return rails_[way.rail].rail->gone(number); };
  if (peer->presence.has_left()) return std::any_of(ways.begin(), ways.end(), gone_there);
  return peer->life == 0 && std::all_of(ways.begin(), ways.end(), [&](const Way& way) {
           return way.ended_here || gone_there(way);
         });
}

std::vector<Pairs::WayFigures> Pairs::figures_of(std::uint32_t number) const {
  std::vector<WayFigures> figures;
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->has_single()) return figures;
  for (std::uint8_t i = 0; i < peer->way_count; ++i) {
    const Way& way = peer->ways[i];
    figures.push_back({rails_[way.rail].label, !way.ended_here, way.sent_bytes,
                       way.speed.is_measured() ? way.speed.bytes_per_second() : 0});
  }
  return figures;
}

const char* Pairs::name_of(std::uint32_t number) const noexcept {
  const Peer* const peer = peers_[number].get();
  const bool single = peer != nullptr && peer->has_single();
  return single ? rails_[peer->rail].rail->name() : "rails";
}

std::string Pairs::text_of(std::uint32_t number) const {
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr) return {};
  if (peer->has_single()) return rails_[peer->rail].label;
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
