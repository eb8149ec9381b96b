// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/copy.h"
#include "fabric/verbs/messages.h"

/// Rings that this process lends and uses. See rings.h.
namespace fulmar::fabric::verbs {
namespace {

using State = InboundRing::State;

}  // namespace

// Sending

/// Writes a packet so that it ends at the end of its slot.
inline PostResult Messages::write_slot(std::uint32_t rank, Peer& peer,
                                       std::span<const std::byte> written) {
  WriteWorkRequest work{{send_key_, peer.outbound_ring->slot_end(peer.out.next(), written.size()),
                         next_id(rank, peer)}};
  work.is_inline = written.size() <= peer.inline_bytes;
  SendBuffer* buffer = nullptr;
  if (!work.is_inline) [[unlikely]] {
    buffer = pool_->take(written.size());
    if (buffer == nullptr) return PostResult::later;
    std::memcpy(buffer->memory.data(), written.data(), written.size());
    written = buffer->memory.first(written.size());
  }
  work.is_signaled = wants_completion(peer, buffer);
  const PostResult taken = peer.queue->rdma_write(written, work);
  if (taken != PostResult::yes) return refused(rank, peer, taken, buffer);
  note_posted(peer, work.is_signaled ? Signaled::yes : Signaled::no, buffer);
  return taken;
}

/// The fast path of short packets: `transmit` without what rings do not need.
PostResult Messages::write_to_ring(std::uint32_t rank, Peer& peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> body) {
  if (!has_room_for_packet(peer)) return PostResult::later;
  wire::VerbsPacket head = wire::verbs_packet(envelope, 0);
  head.cookie = peer.cookie_out;
  head.sequence = peer.out.next();
  head.taken = peer.in.next();
  head.heard = peer.outbound_ring->heard;
  const bool is_bare = peer.outbound_ring->is_repeated(envelope);
  const std::size_t head_bytes = is_bare ? 0 : sizeof head;
  const std::size_t bytes = head_bytes + body.size();
  const std::uint64_t mark = wire::verbs_slot_mark(head.cookie, head.sequence);
  const std::uint64_t end =
      is_bare ? wire::verbs_bare_end(mark, head, bytes) : wire::verbs_slot_end(mark, bytes);
  std::array<std::byte, wire::verbs_slot_bytes> slot;
  std::byte* at = slot.data();
  std::memcpy(at, &mark, sizeof mark);
  at += sizeof mark;
  if (!is_bare) std::memcpy(at, &head, sizeof head);
  base::copy_bytes(at + head_bytes, body.data(), body.size());
  std::memcpy(at + bytes, &end, sizeof end);
  const std::size_t written = sizeof mark + bytes + sizeof end;
  const PostResult taken = write_slot(rank, peer, std::span(slot).first(written));
  if (taken != PostResult::yes) return taken;
  if (!is_bare) peer.outbound_ring->last = envelope;
  ++counters_.ring_sends;
  counters_.bare_sends += is_bare ? 1 : 0;
  note_packet(peer, head);
  return taken;
}

/// A peer lends a ring, perhaps again: it had been taken back with its gate closed.
void Messages::on_lend(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place) {
  if (peer.fin.fin_sent()) return;
  if (peer.outbound_ring == nullptr) {
    peer.outbound_ring = std::make_unique<OutboundRing>();
    gated_.push_back(rank);
  }
  OutboundRing& outbound_ring = *peer.outbound_ring;
  if (outbound_ring.gate != nullptr) gates_.give_back(outbound_ring.gate);
  outbound_ring = {};
  outbound_ring.place = {place.address, place.key};
  const bool is_wanted = config_.rings != 0 && traits_.places_in_order;
  if (is_wanted && place.address != 0) outbound_ring.gate = gates_.take(*adapter_);
  peer.due.heard = false;
  peer.due.gate = true;
  note_pending_control(rank, peer);
}

/// A peer that has closed a gate waits for `heard`, also if there is nothing to send.
void Messages::poll_gates() {
  for (const std::uint32_t rank : gated_) {
    Peer& peer = *peers_[rank];
    OutboundRing& outbound_ring = *peer.outbound_ring;
    if (outbound_ring.look(peer.cookie_in) || outbound_ring.heard == outbound_ring.told) continue;
    peer.due.heard = true;
    note_pending_control(rank, peer);
  }
}

// Lending

/// Counts a message that is short enough for a ring. The age of rings is measured in such messages of
/// all peers.
void Messages::count_short(std::uint32_t rank, Peer& peer, std::size_t bytes) {
  if (bytes > sizeof(wire::VerbsPacket) + most_ringed_body) return;
  ++shorts_clock_;
  if (std::exchange(peer.ring_demand.since, sleeps_) != sleeps_) peer.ring_demand.shorts = 0;
  if (peer.ring_demand.shorts == 0) peer.ring_demand.began = shorts_clock_;
  if (++peer.ring_demand.shorts < shorts_until_ring) return;
  peer.ring_demand.shorts = 0;
  if (leaving_ || peer.ring_demand.is_declined || peer.life.has_left()) return;
  if (peer.inbound_ring == nullptr) {
    lend(rank, peer);
  } else if (peer.inbound_ring->state == State::closed) {
    turn_gate(rank, peer, Gate::open);
  }
}

void Messages::lend(std::uint32_t rank, Peer& peer) {
  Ring* const ring = free_ring(peer.ring_demand.began);
  if (ring == nullptr) return;
  ring->borrower = rank;
  ring->used_at = shorts_clock_;
  peer.inbound_ring = std::make_unique<InboundRing>();
  peer.inbound_ring->ring = ring;
  peer.due.lend = true;
  ++counters_.rings_lent;
  note_pending_control(rank, peer);
}

/// A free ring, or one that was not used since `time` and can no longer be written to. Null: not now; an
/// idle ring becomes free once its borrower has seen the gate closed, which may be never.
Ring* Messages::free_ring(std::uint64_t time) {
  if (Ring* const ring = rings_.take(*adapter_); ring != nullptr) return ring;
  const auto idle_in = [&](State state) {
    return rings_.idle_since(time, [&](const Ring& ring) {
      return peers_[ring.borrower]->inbound_ring->state == state;
    });
  };
  if (const Ring* const unused = idle_in(State::closed); unused != nullptr) {
    take_back(*peers_[unused->borrower]);
    return rings_.take(*adapter_);
  }
  if (const Ring* const idle = idle_in(State::open); idle != nullptr) {
    Peer& borrower = *peers_[idle->borrower];
    if (turn_gate(idle->borrower, borrower, Gate::closed)) {
      // The write does not wake a borrower that sleeps, so a message follows it.
      borrower.due.heard = true;
      note_pending_control(idle->borrower, borrower);
    }
  }
  return nullptr;
}

/// Requires that the peer no longer writes into it.
void Messages::take_back(Peer& peer) noexcept {
  if (peer.inbound_ring == nullptr) return;
  stop_polling(*peer.inbound_ring->ring);
  rings_.give_back(*peer.inbound_ring->ring);
  peer.inbound_ring.reset();
  peer.due.lend = false;
}

/// Requires that the queue pair is destroyed.
void Messages::forget_rings(Peer& peer) noexcept {
  take_back(peer);
  if (peer.outbound_ring == nullptr) return;
  if (peer.outbound_ring->gate != nullptr) gates_.give_back(peer.outbound_ring->gate);
  peer.outbound_ring.reset();
  peer.due.gate = peer.due.heard = false;
  std::erase_if(gated_, [&](std::uint32_t rank) { return peers_[rank].get() == &peer; });
}

/// The peer has answered `lend`.
void Messages::on_gate(std::uint32_t rank, Peer& peer, const wire::VerbsPlace& place) {
  if (peer.inbound_ring == nullptr || peer.inbound_ring->state != State::lending || peer.due.lend) {
    return lose(rank, lost_error(rank, "it tells of a gate, and no ring was lent to it"));
  }
  if (place.address == 0) {
    peer.ring_demand.is_declined = true;
    return take_back(peer);
  }
  peer.inbound_ring->gate = {place.address, place.key};
  peer.inbound_ring->state = State::closed;
  if (!leaving_) turn_gate(rank, peer, Gate::open);
}

/// False: there is no room for the write now, and nothing has changed.
bool Messages::turn_gate(std::uint32_t rank, Peer& peer, Gate to) {
  if (!peer.life.is_connected() || peer.under_way() >= peer.room || under_way_ >= room_) {
    return false;
  }
  InboundRing& inbound_ring = *peer.inbound_ring;
  const auto turn = static_cast<std::uint16_t>(inbound_ring.turn + 1);
  const std::uint64_t word = wire::verbs_gate(peer.cookie_out, turn);
  const auto bytes = std::as_bytes(std::span(&word, 1));
  const WriteWorkRequest work{{send_key_, inbound_ring.gate, next_id(rank, peer)}};
  if (post_unsignaled(rank, peer, bytes, work) != PostResult::yes) return false;
  inbound_ring.turn = turn;
  ++counters_.gates_turned;
  if (to == Gate::open) {
    inbound_ring.state = State::open;
    inbound_ring.ring->used_at = shorts_clock_;
    polls_cq_rarely_ = true;
    polled_rings_.push_back({rank, &peer, inbound_ring.ring});
  } else {
    inbound_ring.state = State::closing;
    closed_ns_ = signed_now_ns();
  }
  return true;
}

/// Everything sent so far was taken, so a gate that the peer has seen closed stays without packets.
void Messages::note_heard(Peer& peer, std::uint8_t heard) noexcept {
  InboundRing& inbound_ring = *peer.inbound_ring;
  if (inbound_ring.state != State::closing || heard != static_cast<std::uint8_t>(inbound_ring.turn))
    return;
  inbound_ring.state = State::closed;
  stop_polling(*inbound_ring.ring);
}

void Messages::stop_polling(const Ring& ring) noexcept {
  std::erase_if(polled_rings_, [&](const PolledRing& at) { return at.ring == &ring; });
}

void Messages::close_gates() {
  for (const PolledRing& at : polled_rings_) {
    if (at.peer->inbound_ring->state == State::open) turn_gate(at.rank, *at.peer, Gate::closed);
  }
}

/// While peers may still write into rings, sleeps are short.
void Messages::limit_sleep() {
  if (polled_rings_.empty()) return;
  const bool any_open =
      std::any_of(polled_rings_.begin(), polled_rings_.end(),
                  [](const PolledRing& at) { return at.peer->inbound_ring->state == State::open; });
  const std::int64_t at = signed_now_ns();
  const std::int64_t since = any_open ? min_poll_sleep_ns : at - closed_ns_;
  wake_by(at + std::clamp(since, min_poll_sleep_ns, max_poll_sleep_ns));
}

/// A partial packet does not count: it is found after a short sleep.
bool Messages::rings_have_news() const noexcept {
  return std::any_of(polled_rings_.begin(), polled_rings_.end(), [](const PolledRing& at) {
    SlotCopy copy;
    return copy.copy(*at.ring, at.peer->in.next(), at.peer->cookie_in);
  });
}

}  // namespace fulmar::fabric::verbs
