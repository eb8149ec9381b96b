// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <utility>

#include "fabric/bundle/pairs.h"
#include "fabric/bundle/rail_sink.h"

/// Polling of the rails, and the work between polls.
namespace fulmar::fabric::bundle {
namespace {

/// A rail that was idle in so many polls is polled only every `rare_poll_interval` polls.
constexpr std::uint32_t polls_before_rare = 512;
constexpr std::uint64_t rare_poll_interval = 32;
/// How often the clock is read for rails to be tried again, in polls.
constexpr std::uint64_t offer_interval = 256;
/// How often a sleep ends to try another rail for a first packet.
constexpr std::int64_t seek_interval_ns = 50'000'000;

}  // namespace

bool Pairs::is_due(const Member& member) const noexcept {
  return poll_all_ || member.primaries != 0 || member.under_way != 0 ||
         member.idle_polls < polls_before_rare || polls_ % rare_poll_interval == 0 ||
         member.rail->has_unsent();
}

unsigned Pairs::poll(SinkRef sink) {
  if (ended_) [[unlikely]]
    return 0;
  ++polls_;
  unsigned count = report_ended(sink);
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    Member& member = rails_[i];
    if (!is_due(member)) continue;
    RailSink rail_sink(*this, i, sink);
    const unsigned moved = member.rail->poll(SinkRef(rail_sink));
    member.idle_polls = moved != 0 ? 0 : std::min(member.idle_polls + 1, polls_before_rare);
    count += moved;
  }
  bool moved = false;
  if (!retries_.empty() && (poll_all_ || polls_ % offer_interval == 0)) moved = offer_returns();
  poll_all_ = false;
  if (!drops_.empty() || !readmissions_.empty() || !returns_.empty()) {
    moved = end_dropped() || moved;
  }
  if (!scheduled_.empty()) moved = service_all() || moved;
  if (leaving_ && !rails_left_) moved = advance_leaving() || moved;
  if (!lost_.empty()) moved = reap() || moved;
  count += report_ended(sink);
  return count == 0 && moved ? 1 : count;
}

unsigned Pairs::report_ended(SinkRef sink) {
  if (ended_sends_.empty()) return 0;
  std::swap(ended_sends_, reporting_);
  for (const Ended& ended : reporting_) sink.sent(ended.token, ended.how);
  const auto count = static_cast<unsigned>(reporting_.size());
  reporting_.clear();
  return count;
}

/// Closes what was given up, now that no rail is being polled.
bool Pairs::end_dropped() {
  for (std::size_t i = 0; i < drops_.size(); ++i) {
    Member& member = rails_[drops_[i].rail];
    member.rail->drop(drops_[i].peer);
    member.idle_polls = 0;  // it has completions of packets in place to report
  }
  drops_.clear();
  for (const Drop& side : readmissions_) readmit(side);
  readmissions_.clear();
  for (const Drop& side : std::exchange(returns_, {})) take_back(side);
  return true;
}

bool Pairs::service_all() {
  bool moved = false;
  std::swap(scheduled_, serviced_);
  for (const std::uint32_t number : serviced_) {
    Peer& peer = *peers_[number];
    peer.is_scheduled = false;
    if (peer.has_several()) moved = service(number, peer) || moved;
  }
  serviced_.clear();
  if (moved) flush();  // the program may compute next
  return moved;
}

/// Does what can be done for a peer, and schedules it again for the rest. True if anything moved.
bool Pairs::service(std::uint32_t number, Peer& peer) {
  // A peer that has left gets `down` when it comes back; otherwise this process could not leave before
  // the peer has received it.
  if (!peer.is_away()) announce_ends(peer);
  if (std::exchange(peer.checks_paths, false)) check_paths(number, peer);
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    if (peer.paths[i].ended_here && peer.paths[i].ended_there) finish_end(number, peer, i);
  }
  try_returned(number, peer);
  const std::uint32_t waiting = peer.kept.unsent_count();
  if (waiting != 0 && !send_unsent(number, peer)) schedule(number, peer);
  bool moved = peer.kept.unsent_count() != waiting;
  if (peer.has_pieces()) moved = send_stranded(number, peer) || moved;
  // A peer that has sent `bye` leaves with this acknowledgement: first send everything else.
  if (peer.ack_due && (!peer.fin.fin_received() || !peer.kept.has_unsent())) {
    if (send_ack(number, peer)) {
      moved = true;
    } else {
      schedule(number, peer);
    }
  }
  return moved;
}

/// An acknowledgement may use any rail; the primary one can combine it with other packets.
bool Pairs::send_ack(std::uint32_t number, Peer& peer) {
  std::uint8_t path = peer.primary;
  for (std::uint8_t i = 0; path == no_path && i < peer.path_count; ++i) {
    if (peer.paths[i].is_connected && !peer.paths[i].ended_here) path = i;
  }
  if (path == no_path || !post_ack(number, peer, path, wire::bundle_ack_kind)) return false;
  rails_[peer.paths[path].rail].rail->flush();
  return true;
}

bool Pairs::post_ack(std::uint32_t number, Peer& peer, std::uint8_t path, wire::PacketKind kind) {
  const wire::BundlePacket head = head_for(peer, wire::BundleWhat::ack, peer.kept.unsent_count());
  const wire::BundleAck ack = peer.in == nullptr ? wire::BundleAck() : peer.in->ack();
  std::array<std::byte, sizeof head + sizeof ack> bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &ack, sizeof ack);
  const wire::Envelope envelope{kind, 0, 0, 0, static_cast<std::uint32_t>(bytes.size())};
  if (rails_[peer.paths[path].rail].rail->post(number, envelope, bytes) == Post::again)
    return false;
  ++counters_.acks;
  peer.received.note_acknowledged(head.ack);
  peer.unacked_bytes = 0;
  peer.ack_due = peer.ack_due && peer.received.unacknowledged() != 0;
  return true;
}

bool Pairs::has_unsent() const noexcept {
  return !scheduled_.empty() || std::any_of(rails_.begin(), rails_.end(), [](const Member& member) {
    return member.rail->has_unsent();
  });
}

void Pairs::flush() {
  for (const Member& member : rails_) member.rail->flush();
}

bool Pairs::arm() {
  poll_all_ = true;
  deadline_ns_ = -1;
  if (ended_) return true;
  const auto time = static_cast<std::int64_t>(now());
  bool quiet = ended_sends_.empty() && drops_.empty() && readmissions_.empty() &&
               returns_.empty() && lost_.empty();
  for (const Member& member : rails_) quiet = member.rail->arm() && quiet;
  for (const std::uint32_t number : scheduled_) {
    const Peer& peer = *peers_[number];
    if (!peer.has_several() || peer.primary != no_path) continue;
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
