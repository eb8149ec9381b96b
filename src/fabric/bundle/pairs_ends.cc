// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdio>

#include "fabric/bundle/pairs.h"

/// Leaving, and descriptions for the user.
namespace fulmar::fabric::bundle {
namespace {

/// How long a process that leaves waits for the acknowledgements of peers that have sent `bye`: they
/// have what was sent to them, and may be gone already.
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
    if (peer == nullptr || !peer->has_several() || !peer->has_traffic()) continue;
    send_bye(*peer);
    schedule(number, *peer);
  }
  static_cast<void>(advance_leaving());
}

/// The last ordered packet.
void Pairs::send_bye(Peer& peer) {
  announce_ends(peer);
  const wire::Envelope envelope{wire::bundle_signal_kind, 0, 0, 0, 0};
  const std::uint32_t number = peer.kept.next_number();
  const bool added = peer.kept.add(envelope, wire::BundleWhat::bye, {}, KeptPackets::Rank::own);
  if (added) peer.fin.note_fin_sent(number);
}

/// The peer has everything that was sent to it and needs nothing more from this process; or nothing has
/// come from it since it was away, and it never comes back.
bool Pairs::is_quiesced(std::uint32_t number, const Peer& peer) const noexcept {
  if (!peer.has_several() || !peer.has_traffic()) return true;
  if (peer.life == 0 && gone(number)) return true;
  const bool has_fin = peer.fin.fin_received();
  if (has_fin && (leave_timeout_.expired() || takes_nothing(number, peer))) return true;
  if (peer.ack_due || peer.has_pieces()) return false;
  if (peer.kept.empty()) return true;
  // A peer that has sent `bye` may be gone before it acknowledges ours; but ours has to be sent ahead of
  // the FIN of the rails, or this process seems to have died.
  const bool only_fin = peer.fin.fin_sent() && peer.kept.count() == 1;
  return has_fin && only_fin && !peer.kept.has_unsent();
}

/// The rails of the peer are closing: it waits for nothing more from this process.
bool Pairs::takes_nothing(std::uint32_t number, const Peer& peer) const noexcept {
  const std::span<const Path> paths(peer.paths.data(), peer.path_count);
  return std::any_of(paths.begin(), paths.end(), [&](const Path& path) {
    return path.is_connected && rails_[path.rail].rail->closing(number);
  });
}

/// True when the rails begin to leave: that counts as progress, because `quiesced` may have waited for
/// nothing else.
bool Pairs::advance_leaving() {
  const bool expires = leave_timeout_.expire(static_cast<std::int64_t>(now()));
  for (std::uint32_t number = 0; number < size(); ++number) {
    if (peers_[number] != nullptr && !is_quiesced(number, *peers_[number])) return expires;
  }
  for (std::uint32_t number = 0; number < size(); ++number) {
    Peer* const peer = peers_[number].get();
    if (peer == nullptr || !peer->has_several()) continue;
    if (peer->received.unacknowledged() != 0) static_cast<void>(send_ack(number, *peer));
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

/// The peer's `bye` has come, behind everything else, and a rail says that it is gone. A peer that was
/// never connected is gone if no rail reaches its process.
bool Pairs::gone(std::uint32_t number) const noexcept {
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->is_lost()) return false;
  if (peer->has_single()) return rails_[peer->rail].rail->gone(number);
  const std::span<const Path> paths(peer->paths.data(), peer->path_count);
  const auto gone_there = [&](const Path& path) { return rails_[path.rail].rail->gone(number); };
  if (peer->presence.has_left()) return std::any_of(paths.begin(), paths.end(), gone_there);
  return peer->life == 0 && std::all_of(paths.begin(), paths.end(), [&](const Path& path) {
           return path.ended_here || gone_there(path);
         });
}

std::vector<Pairs::PathStats> Pairs::stats_of(std::uint32_t number) const {
  std::vector<PathStats> stats;
  const Peer* const peer = peers_[number].get();
  if (peer == nullptr || peer->has_single()) return stats;
  for (std::uint8_t i = 0; i < peer->path_count; ++i) {
    const Path& path = peer->paths[i];
    stats.push_back({rails_[path.rail].label, !path.ended_here, path.sent_bytes,
                     path.speed.is_measured() ? path.speed.bytes_per_second() : 0});
  }
  return stats;
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
  for (const PathStats& path : stats_of(number)) {
    text += (text.empty() ? "" : ", ") + path.label + " ";
    if (!path.is_up) {
      text += "given up";
      continue;
    }
    text += text_of_bytes(static_cast<double>(path.sent_bytes));
    if (path.bytes_per_second > 0) text += " at " + text_of_bytes(path.bytes_per_second) + "/s";
  }
  return text;
}

}  // namespace fulmar::fabric::bundle
