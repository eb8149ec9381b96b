// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <utility>

#include "fabric/bundle/pairs.h"
#include "fabric/bundle/rail_sink.h"

/// Looks at the rails, and what is done between them.
namespace fulmar::fabric::bundle {
namespace {

/// A rail that brought nothing with so many looks is looked at with every so many polls.
constexpr std::uint32_t polls_before_rare = 512;
constexpr std::uint64_t rare_poll_interval = 32;
/// How often the clock is read for rails that are to be tried again, in polls.
constexpr std::uint64_t offer_interval = 256;
/// When to look whether another rail is to be tried for a first packet.
constexpr std::int64_t seek_interval_ns = 50'000'000;

}  // namespace

bool Pairs::is_due(const Member& member) const noexcept {
  return look_at_all_ || member.primaries != 0 || member.under_way != 0 ||
         member.quiet_looks < polls_before_rare || polls_ % rare_poll_interval == 0 ||
         member.rail->has_unsent();
}

unsigned Pairs::poll(SinkRef sink) {
  if (ended_) [[unlikely]]
    return 0;
  ++polls_;
  unsigned count = tell(sink);
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    Member& member = rails_[i];
    if (!is_due(member)) continue;
    RailSink rail_sink(*this, i, sink);
    const unsigned moved = member.rail->poll(SinkRef(rail_sink));
    member.quiet_looks = moved != 0 ? 0 : std::min(member.quiet_looks + 1, polls_before_rare);
    count += moved;
  }
  bool moved = false;
  if (!retries_.empty() && (look_at_all_ || polls_ % offer_interval == 0)) moved = offer_returns();
  look_at_all_ = false;
  if (!drops_.empty() || !readmissions_.empty() || !returns_.empty()) {
    moved = end_dropped() || moved;
  }
  if (!stirred_.empty()) moved = attend_all() || moved;
  if (leaving_ && !rails_left_) moved = advance_leaving() || moved;
  if (!lost_.empty()) moved = reap() || moved;
  count += tell(sink);
  return count == 0 && moved ? 1 : count;
}

unsigned Pairs::tell(SinkRef sink) {
  if (told_.empty()) return 0;
  std::swap(told_, telling_);
  for (const Told& told : telling_) sink.sent(told.token, told.how);
  const auto count = static_cast<unsigned>(telling_.size());
  telling_.clear();
  return count;
}

/// Ends what was given up, now that no rail is being looked at.
bool Pairs::end_dropped() {
  for (std::size_t i = 0; i < drops_.size(); ++i) {
    Member& member = rails_[drops_[i].rail];
    member.rail->drop(drops_[i].peer);
    member.quiet_looks = 0;  // it has ends of packets in place to tell
  }
  drops_.clear();
  for (const Drop& side : readmissions_) readmit(side);
  readmissions_.clear();
  for (const Drop& side : std::exchange(returns_, {})) take_back(side);
  return true;
}

bool Pairs::attend_all() {
  bool moved = false;
  std::swap(stirred_, attended_);
  for (const std::uint32_t number : attended_) {
    Peer& peer = *peers_[number];
    peer.stirred = false;
    if (peer.has_several()) moved = attend(number, peer) || moved;
  }
  attended_.clear();
  if (moved) flush();  // the program may compute next
  return moved;
}

/// Does what can be done for a peer; what cannot be done now stirs it again. True if anything
/// moved.
bool Pairs::attend(std::uint32_t number, Peer& peer) {
  // Who has left is told when it comes back: else there would be something that it has to hear
  // before this process may leave, too.
  if (!peer.is_away()) announce_ends(peer);
  if (std::exchange(peer.asks_ways, false)) ask_ways(number, peer);
  for (std::uint8_t i = 0; i < peer.way_count; ++i) {
    if (peer.ways[i].ended_here && peer.ways[i].ended_there) finish_end(number, peer, i);
  }
  try_returned(number, peer);
  const std::uint32_t waiting = peer.kept.unsent_count();
  if (waiting != 0 && !send_unsent(number, peer)) stir(number, peer);
  bool moved = peer.kept.unsent_count() != waiting;
  if (peer.has_pieces()) moved = send_stranded(number, peer) || moved;
  // Who has said its last word is not to go before it has been sent all.
  if (peer.owes_news && (!peer.fin.fin_received() || !peer.kept.has_unsent())) {
    if (pay_news(number, peer)) {
      moved = true;
    } else {
      stir(number, peer);
    }
  }
  return moved;
}

/// News may go over any rail; over the primary one they ride for nothing with the next packet.
bool Pairs::pay_news(std::uint32_t number, Peer& peer) {
  std::uint8_t way = peer.primary;
  for (std::uint8_t i = 0; way == no_way && i < peer.way_count; ++i) {
    if (peer.ways[i].is_connected && !peer.ways[i].ended_here) way = i;
  }
  if (way == no_way || !post_news(number, peer, way, wire::bundle_news_kind)) return false;
  rails_[peer.ways[way].rail].rail->flush();
  return true;
}

bool Pairs::post_news(std::uint32_t number, Peer& peer, std::uint8_t way, wire::PacketKind kind) {
  const wire::BundlePacket head = head_for(peer, wire::BundleWhat::news, peer.kept.unsent_count());
  const wire::BundleNews news = peer.in == nullptr ? wire::BundleNews() : peer.in->news();
  std::array<std::byte, sizeof head + sizeof news> bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &news, sizeof news);
  const wire::Envelope envelope{kind, 0, 0, 0, static_cast<std::uint32_t>(bytes.size())};
  if (rails_[peer.ways[way].rail].rail->post(number, envelope, bytes) == Post::again) return false;
  ++counters_.news;
  peer.received.note_acknowledged(head.ack);
  peer.silent_bytes = 0;
  peer.owes_news = peer.owes_news && peer.received.unacknowledged() != 0;
  return true;
}

bool Pairs::has_unsent() const noexcept {
  return !stirred_.empty() || std::any_of(rails_.begin(), rails_.end(), [](const Member& member) {
    return member.rail->has_unsent();
  });
}

void Pairs::flush() {
  for (const Member& member : rails_) member.rail->flush();
}

bool Pairs::arm() {
  look_at_all_ = true;
  deadline_ns_ = -1;
  if (ended_) return true;
  const auto time = static_cast<std::int64_t>(now());
  bool quiet =
      told_.empty() && drops_.empty() && readmissions_.empty() && returns_.empty() && lost_.empty();
  for (const Member& member : rails_) quiet = member.rail->arm() && quiet;
  for (const std::uint32_t number : stirred_) {
    const Peer& peer = *peers_[number];
    if (!peer.has_several() || peer.primary != no_way) continue;
    deadline_ns_ = time + seek_interval_ns;
  }
  if (!leaving_) deadline_ns_ = earlier_wake(deadline_ns_, next_offer_ns());
  if (!rails_left_) deadline_ns_ = earlier_wake(deadline_ns_, leave_timeout_.wake_ns());
  return quiet;
}

std::int64_t Pairs::next_deadline_ns() const noexcept {
  std::int64_t next = deadline_ns_;
  for (const Member& member : rails_) {
    next = earlier_wake(next, member.rail->next_deadline_ns());
  }
  return next;
}

}  // namespace fulmar::fabric::bundle
