// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <utility>

#include "fabric/verbs/messages.h"

/// Receiving, and completions.
namespace fulmar::fabric::verbs {
namespace {

using wire::VerbsPacket;
using wire::VerbsSignal;

/// Polls of the completion queue in one poll, so that other networks get their turn.
constexpr unsigned cq_polls_per_poll = 4;
/// Sockets and adapter events are polled every Nth poll, if there is no special reason.
constexpr std::uint32_t event_poll_interval = 64;
/// Buffers are reposted in batches, or when there is nothing else to do, so that this does not delay a
/// packet that has arrived.
constexpr std::size_t repost_batch = 16;
/// Packets from rings in one poll, so that everything else gets its turn.
constexpr std::uint32_t ring_packets_per_poll = 64;

/// Why a packet is not valid; null if it is. Applies its acknowledgement.
const char* fault_in(Peer& peer, const VerbsPacket& packet, std::size_t body_bytes,
                     Carrier carrier) noexcept {
  if (packet.cookie != peer.cookie_in) return "a wrong cookie: somebody else has sent it";
  if (packet.sequence != peer.in.next()) return "a wrong number: somebody else has sent one";
  if (const char* const fault = wire::fault_of(packet, body_bytes); fault != nullptr) return fault;
  if (carrier == Carrier::ring && wire::is_verbs_signal(packet.kind)) return "a signal in a ring";
  const bool may_follow = packet.kind == static_cast<std::uint8_t>(VerbsSignal::seen) ||
                          packet.kind == static_cast<std::uint8_t>(VerbsSignal::credit);
  if (peer.life.has_left() && !may_follow) return "a packet behind its last";
  return peer.out.acknowledge_in_order(packet.taken) ? nullptr : "it has taken what was not sent";
}

/// The same for a packet without a header that is followed by `end`. Its cookie was checked.
const char* fault_in_bare(Peer& peer, std::uint64_t end, std::size_t body_bytes) noexcept {
  const auto& last = peer.inbound_ring->last;
  if (!last || last->length != body_bytes) return "a body that is not like the last one";
  if (peer.life.has_left()) return "a packet behind its last";
  const std::uint32_t not_taken =
      static_cast<std::uint8_t>(peer.out.next() - wire::verbs_slot_taken(end));
  const bool sent = peer.out.acknowledge_in_order(peer.out.next() - not_taken);
  return sent ? nullptr : "it has taken what was not sent";
}

void give_to(const SinkRef& sink, const Arrival& arrival) {
  if (arrival.kind == Arrival::Kind::word)
    return sink.immediate_received(arrival.peer, arrival.word);
  if (arrival.kind == Arrival::Kind::in_place && sink.places()) {
    return sink.part(arrival.peer, arrival.envelope, arrival.body.first(arrival.prefix_bytes), 0,
                     arrival.body.subspan(arrival.prefix_bytes));
  }
  sink.packet(arrival.peer, arrival.envelope, Body(arrival.body));
}

}  // namespace

void Messages::begin() {
  was_refused_ = moved_ = false;
  reads_left_ = cq_polls_per_poll;
  rings_left_ = polled_rings_.size();
  polls_since_cq_poll_ += 1 + std::exchange(ringed_, 0) / packets_per_poll;
  if (over_) return;
  if (pending_connections_ != 0 || armed_ || ++polls_ % event_poll_interval == 0) [[unlikely]] {
    poll_events();
    poll_gates();
    polls_since_cq_poll_ = busy_polls_per_cq_poll;
  }
  if (leaving_ || !ending_.empty()) [[unlikely]]
    polls_since_cq_poll_ = busy_polls_per_cq_poll;
  if (!pending_control_.empty()) send_pending_control();
}

bool Messages::next(Arrival& arrival) {
  while (true) {
    if (spent_) recycle();
    if (rings_left_ != 0 && next_in_rings(arrival)) return true;
    if (next_completion_ == completion_count_) {
      if (reads_left_ == 0 || !may_read()) return false;
      --reads_left_;
      read();
      if (completion_count_ < completions_.size()) reads_left_ = 0;
      if (completion_count_ == 0) return false;
      moved_ = true;
    }
    if (take(arrival)) return true;
  }
}

/// The buffer that was handed out last is free.
void Messages::recycle() {
  const std::size_t buffer = *std::exchange(spent_, std::nullopt);
  unposted_.push_back({buffers_[buffer], receive_mark | buffer});
  if (many_unposted()) repost();
}

/// Discards what has arrived. Some adapters keep the buffers of unread messages when the queue ends.
void Messages::take_buffers() {
  Arrival ignored;
  for (std::size_t most = traits_.completion_depth / completions_.size() + 1; most > 0; --most) {
    if (next_completion_ == completion_count_) read();
    if (completion_count_ == 0) return;
    while (next_completion_ != completion_count_) {
      (void)take(ignored);
      if (spent_) recycle();
    }
  }
}

/// Begins behind the ring where the last poll stopped, so that a ring that is always full does not
/// starve the others.
bool Messages::next_in_rings(Arrival& arrival) {
  while (rings_left_ != 0 && ringed_ < ring_packets_per_poll) {
    if (next_ring_ >= polled_rings_.size()) next_ring_ = 0;
    if (polled_rings_.empty()) break;  // since the poll has begun
    const PolledRing at = polled_rings_[next_ring_];
    const bool found = at.ring->is_full(at.peer->in.next());
    const bool taken = found && take_slot(at.rank, *at.peer, *at.ring, arrival);
    // Usually nothing follows: go to the next ring.
    if (!taken || ringed_ == ring_packets_per_poll || !at.ring->is_full(at.peer->in.next())) {
      ++next_ring_;
      --rings_left_;
    }
    if (taken) return true;
  }
  rings_left_ = 0;
  return false;
}

/// The next packet of a peer if it is in its ring.
bool Messages::take_from_ring(std::uint32_t rank, Peer& peer, Arrival& arrival) {
  return ring_holds_more(peer) && take_slot(rank, peer, *peer.inbound_ring->ring, arrival);
}

/// Also false if the packet is not complete.
bool Messages::take_slot(std::uint32_t rank, Peer& peer, const Ring& ring, Arrival& arrival) {
  if (!slot_copy_.take(ring, peer.in.next(), peer.cookie_in)) [[unlikely]] {
    ++counters_.half_packets;
    return false;
  }
  const auto bytes = slot_copy_.packet;
  ++ringed_;
  moved_ = true;
  if (peer.life.is_lost()) [[unlikely]] {
    ++counters_.strays;
    return false;
  }
  peer.inbound_ring->ring->used_at = shorts_clock_;
  if (wire::is_verbs_slot_bare(slot_copy_.end)) return accept_bare(rank, peer, bytes, arrival);
  return accept(rank, Carrier::ring, bytes, arrival);
}

bool Messages::next_ended(EndedSend& ended) {
  if (ended_.empty()) return false;
  ended = ended_.front();
  ended_.pop_front();
  return true;
}

void Messages::finish() {
  if (!unposted_.empty() && (!moved_ || many_unposted())) repost();
  if (!pending_control_.empty()) send_pending_control();
  if (!ending_.empty() && drained_ && next_completion_ == completion_count_) handle_ended();
  moved_ = moved_ || !lost_.empty();
  if (!lost_.empty()) [[unlikely]]
    reap();
}

unsigned Messages::poll(SinkRef sink) {
  unsigned count = 0;
  begin();
  for (Arrival arrival; next(arrival); ++count) give_to(sink, arrival);
  for (EndedSend ended; next_ended(ended); ++count) sink.sent(ended.token, ended.how);
  finish();
  return count == 0 && moved_ ? 1 : count;
}

void Messages::read() {
  next_completion_ = 0;
  polls_since_cq_poll_ = 0;
  completion_count_ = adapter_->read(completions_);
  drained_ = completion_count_ == 0;
  if (drained_ && orphaned_ != 0) [[unlikely]]
    under_way_ -= std::exchange(orphaned_, 0);
}

bool Messages::many_unposted() const noexcept {
  return unposted_.size() >= std::min(repost_batch, buffers_.size() / 4);
}

/// Buffers that the adapter does not take now are tried again by the next poll.
void Messages::repost() {
  const std::size_t taken = adapter_->receive(unposted_, receive_key_);
  unposted_.erase(unposted_.begin(), unposted_.begin() + static_cast<std::ptrdiff_t>(taken));
}

std::optional<std::uint32_t> Messages::rank_of(std::uint32_t queue) {
  if (queue == last_queue_ && queue != 0) return last_rank_;
  const auto found = ranks_.find(queue);
  if (found == ranks_.end()) return std::nullopt;
  last_queue_ = queue;
  last_rank_ = found->second;
  return found->second;
}

bool Messages::take(Arrival& arrival) {
  const Completion& completion = completions_[next_completion_];
  const bool is_own = (completion.id & receive_mark) == 0;
  if (is_own && completion.kind != Completion::Kind::failed) {
    ++next_completion_;
    finish_work(completion);
    return false;
  }
  const auto rank = rank_of(completion.queue);
  // What the peer wrote before this message is in its ring.
  if (rank && !polled_rings_.empty() && take_from_ring(*rank, *peers_[*rank], arrival)) return true;
  ++next_completion_;
  if (is_own) {
    finish_work(completion);
    return false;
  }
  const std::size_t buffer = completion.id & ~receive_mark;
  spent_ = buffer;
  if (completion.kind == Completion::Kind::failed) {
    if (rank && !peers_[*rank]->life.has_left()) {
      lose(*rank, failed_error(*rank, adapter_->text_of(completion.status)));
    }
    return false;
  }
  if (!rank || peers_[*rank]->life.is_lost()) {
    ++counters_.strays;
    return false;
  }
  if (completion.kind == Completion::Kind::immediate) {
    return accept_word(*rank, completion.word, arrival);
  }
  return accept(*rank, Carrier::message, buffers_[buffer].first(completion.bytes), arrival);
}

void Messages::finish_work(const Completion& completion) {
  const auto rank = rank_of(completion.queue);
  if (!rank || *rank != static_cast<std::uint32_t>(completion.id >> 32)) return;
  Peer& peer = *peers_[*rank];
  const auto number = static_cast<std::uint32_t>(completion.id);
  // Of an earlier queue pair whose number the adapter has reused.
  if (number - peer.completed > peer.under_way()) return;
  ++counters_.completions;
  complete(peer, number);
  if (completion.kind == Completion::Kind::sent) return finish_rdma(peer, number);
  // A peer that has left may be gone before its adapter acknowledged the FIN.
  if (peer.life.has_left() && peer.pending_rdma.empty()) return;
  lose(*rank, failed_error(*rank, adapter_->text_of(completion.status)));
}

/// The adapter is done with the work requests up to this number. RDMA ends in finish_rdma.
void Messages::complete(Peer& peer, std::uint32_t number) {
  const std::uint32_t done = number - peer.completed;
  if (static_cast<std::int32_t>(done) <= 0) return;
  peer.completed = number;
  under_way_ -= done;
  while (peer.oldest != nullptr && static_cast<std::int32_t>(number - peer.oldest->number) >= 0) {
    SendBuffer* const buffer = std::exchange(peer.oldest, peer.oldest->next);
    pool_->give_back(*buffer);
  }
}

/// A packet of a peer that is not lost.
bool Messages::accept(std::uint32_t rank, Carrier carrier, std::span<const std::byte> bytes,
                      Arrival& arrival) {
  Peer& peer = *peers_[rank];
  const auto packet = wire::decode_verbs_packet(bytes);
  const char* const fault = packet ? fault_in(peer, *packet, bytes.size() - sizeof *packet, carrier)
                                   : "fewer bytes than a header";
  if (fault != nullptr) [[unlikely]] {
    lose_for(rank, fault);
    return false;
  }
  count_taken(rank, peer);
  if (peer.inbound_ring != nullptr) note_heard(peer, packet->heard);
  const auto body = bytes.subspan(sizeof *packet);
  if (carrier == Carrier::ring) {
    ++counters_.ring_packets;
    peer.inbound_ring->last = wire::envelope_of(*packet);
    if (packet->prefix_bytes != 0) peer.inbound_ring->last.reset();
  } else if (wire::is_verbs_signal(packet->kind)) {
    on_signal(rank, peer, static_cast<VerbsSignal>(packet->kind), body);
    return false;
  } else if (rings_.most() != 0) {
    count_short(rank, peer, bytes.size());
  }
  const auto kind = packet->prefix_bytes == 0 ? Arrival::Kind::packet : Arrival::Kind::in_place;
  arrival = {rank, wire::envelope_of(*packet), kind, 0, packet->prefix_bytes, body};
  return true;
}

/// A packet in a ring with the envelope of the one before it. The peer is not lost.
bool Messages::accept_bare(std::uint32_t rank, Peer& peer, std::span<const std::byte> body,
                           Arrival& arrival) {
  const char* const fault = fault_in_bare(peer, slot_copy_.end, body.size());
  if (fault != nullptr) [[unlikely]] {
    lose_for(rank, fault);
    return false;
  }
  count_taken(rank, peer);
  note_heard(peer, wire::verbs_slot_heard(slot_copy_.end));
  ++counters_.ring_packets;
  arrival = {rank, *peer.inbound_ring->last, Arrival::Kind::packet, 0, 0, body};
  return true;
}

void Messages::lose_for(std::uint32_t rank, const char* fault) {
  lose(rank, lost_error(rank, std::string("what came is no packet of it (") + fault + ")"));
}

/// A write with immediate data has used up a buffer, as a packet does. The peer is not lost.
bool Messages::accept_word(std::uint32_t rank, std::uint32_t told, Arrival& arrival) {
  Peer& peer = *peers_[rank];
  const auto word = static_cast<std::uint16_t>(told);
  const bool genuine = wire::verbs_word(peer.cookie_in, peer.in.next(), word) == told;
  if (!genuine || peer.life.has_left()) [[unlikely]] {
    lose_for(rank, genuine ? "a put behind its last"
                           : "a wrong proof with a put: somebody else has sent it");
    return false;
  }
  count_taken(rank, peer);
  arrival = {rank, {}, Arrival::Kind::word, word, 0, {}};
  return true;
}

/// A buffer was used up. Credits are due when a quarter of the window is uncredited.
void Messages::count_taken(std::uint32_t rank, Peer& peer) {
  peer.in.advance();
  if (peer.in.unacknowledged() < ack_interval) return;
  peer.due.credit = true;
  note_pending_control(rank, peer);
}

void Messages::on_signal(std::uint32_t rank, Peer& peer, VerbsSignal signal,
                         std::span<const std::byte> body) {
  switch (signal) {
    case VerbsSignal::farewell:
    case VerbsSignal::bye:
      peer.life.on_fin(signal == VerbsSignal::farewell ? Leaving::for_good : Leaving::may_return,
                       rules());
      peer.fin.on_fin();
      take_back(peer);
      return note_pending_control(rank, peer);
    case VerbsSignal::seen:
      peer.fin.on_fin_ack();
      return;
    case VerbsSignal::credit:
      return;
    case VerbsSignal::lend:
      return on_lend(rank, peer, wire::decode_verbs_place(body));
    case VerbsSignal::gate:
      return on_gate(rank, peer, wire::decode_verbs_place(body));
  }
}

}  // namespace fulmar::fabric::verbs
