// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/messages.h"
#include "wire/cell.h"

/// Reading and writing the memory of peers.
///
/// **What a put promises.** A packet that is posted after a put has to arrive after its bytes. No
/// order that libfabric knows says so: FI_ORDER_SAW is about headers, and "does not guarantee the
/// order in which message data is sent or received" (fi_endpoint(3)). What it does promise is that
/// a write with FI_DELIVERY_COMPLETE has put its bytes where they belong when it completes. So
/// while writes to a peer are under way, packets for it are answered `again`. That costs a message
/// which is put one way through the network more; one that is fetched, as most are, costs nothing.
///
/// Puts that follow each other without a gap would keep a packet waiting for ever. So behind a
/// packet that was refused no put begins until one packet has been taken, or those who post have
/// had two looks to come back with it since the last put ended.
///
/// **Ends.** An order ends when the endpoint says so, also that for a peer that is lost: until then
/// the memory may still be written to. One that fails makes its peer lost, as a packet does. Our
/// bye follows when all orders to the peer have ended.
namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;

/// Of those who were refused, until they are taken to have given up.
constexpr std::uint32_t patient_looks = 2;

}  // namespace

base::Result<MemoryRegion> Messages::open_memory(std::span<std::byte> memory, Access access) {
  if (memory.empty()) {
    return failure(ErrorClass::other, "memory of 0 bytes cannot be opened; leave it out");
  }
  auto opened = endpoint_->open_memory(memory, access);
  if (opened.ok()) ++counters_.openings;
  return opened;
}

void Messages::close_memory(const MemoryRegion& opened) { endpoint_->close_memory(opened); }

/// Whether a packet has to wait until what was put before it is there. Remembers that one waits.
bool Messages::waits_for_puts(Peer& peer) noexcept {
  peer.packet_waits = peer.puts != 0;
  return peer.packet_waits;
}

bool Messages::lets_packet_pass(Peer& peer) const noexcept {
  if (!peer.packet_waits) return false;
  if (peer.puts == 0 && looks_ - peer.last_put_look > patient_looks) peer.packet_waits = false;
  return peer.packet_waits;
}

/// The peer if an order can go to it now; else null, and what to answer. Orders for a peer that is
/// lost end at once.
Peer* Messages::peer_for_order(std::uint32_t rank, std::uint64_t token, Post& otherwise) {
  Peer* const peer = ready_peer(rank, wire::PacketKind::data, otherwise);
  if (peer == nullptr) {
    ended_.push_back({token, Sent::lost});
    return nullptr;
  }
  otherwise = Post::again;
  return peer->orders < Orders::most_to_peer ? peer : nullptr;
}

Post Messages::fetch(std::uint32_t rank, std::span<std::byte> to, std::uint32_t lkey,
                     const RemoteAddress& from, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  OrderTicket* const ticket = orders_.take();
  if (ticket == nullptr) return refuse(Post::again);
  ticket->kind = OrderTicket::Kind::fetch;
  return note_order(rank, *peer, token, *ticket,
                    endpoint_->fetch(peer->address, to, lkey, from, *ticket));
}

Post Messages::put(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                   const RemoteAddress& to, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  if (lets_packet_pass(*peer)) return refuse(Post::again);
  OrderTicket* const ticket = orders_.take();
  if (ticket == nullptr) return refuse(Post::again);
  ticket->kind = OrderTicket::Kind::put;
  return note_order(rank, *peer, token, *ticket,
                    endpoint_->put(peer->address, from, lkey, to, *ticket));
}

/// The operands of changes lie in their tickets, whose memory is opened with the first one.
Post Messages::change(std::uint32_t rank, std::span<std::byte> was, ChangeOrder order,
                      const std::array<std::uint64_t, 2>& operands, std::uint64_t token) {
  if (can_.changes == Network::Changes::none) {
    ended_.push_back({token, Sent::lost});
    return Post::done;
  }
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  OrderTicket* const ticket = orders_.take();
  if (ticket == nullptr) return refuse(Post::again);
  if (!operands_lkey_) {
    auto opened = endpoint_->open_memory(orders_.memory(), Access::local);
    if (opened.failed()) {
      orders_.give_back(*ticket);
      ended_.push_back({token, Sent::lost});
      return Post::done;
    }
    operands_lkey_ = opened->lkey;
  }
  ticket->kind = OrderTicket::Kind::fetch;
  ticket->operands = operands;
  order.operands = ticket->operands.data();
  order.operands_lkey = *operands_lkey_;
  const Taken taken = endpoint_->change(peer->address, was, order, *ticket);
  if (taken == Taken::yes) {
    ++counters_.changes;
    --counters_.fetches;  // note_order counts it as one
  }
  return note_order(rank, *peer, token, *ticket, taken);
}

/// Whoever is refused looks again soon.
Post Messages::refuse(Post answer) noexcept {
  if (answer == Post::again) refused_ = true;
  return answer;
}

Post Messages::note_order(std::uint32_t rank, Peer& peer, std::uint64_t token, OrderTicket& ticket,
                          Taken taken) {
  ticket.peer = rank;
  ticket.token = token;
  if (taken == Taken::yes) {
    ++peer.orders;
    if (ticket.kind == OrderTicket::Kind::put) ++peer.puts;
    ++(ticket.kind == OrderTicket::Kind::put ? counters_.puts : counters_.fetches);
    return Post::done;
  }
  orders_.give_back(ticket);
  if (taken == Taken::later) return refuse(Post::again);
  lose_over_network(rank, endpoint_->last_error());
  ended_.push_back({token, Sent::lost});
  return Post::done;
}

void Messages::end_order(OrderTicket& ticket, Event::Kind kind) {
  const std::uint32_t rank = ticket.peer;
  Peer& peer = *peers_[rank];
  const bool is_put = ticket.kind == OrderTicket::Kind::put;
  --peer.orders;
  if (is_put && --peer.puts == 0) peer.last_put_look = looks_;
  const bool failed = kind == Event::Kind::failed;
  if (!failed) peer.heard = true;
  ended_.push_back({ticket.token, failed ? Sent::lost : Sent::done});
  orders_.give_back(ticket);
  if (failed && !peer.life.has_left()) lose_over_network(rank, endpoint_->last_error());
}

}  // namespace fulmar::fabric::ofi
