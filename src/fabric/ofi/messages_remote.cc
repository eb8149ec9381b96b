// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/messages.h"
#include "wire/cell.h"

/// RDMA and atomic operations on the memory of peers.
///
/// **Ordering of writes.** A packet that is posted after an RDMA write has to arrive after its data. No
/// ordering of libfabric promises that: FI_ORDER_SAW is about headers, and "does not guarantee the order
/// in which message data is sent or received" (fi_endpoint(3)). What libfabric does promise is that the
/// data of a write with FI_DELIVERY_COMPLETE are in place when it completes. So while writes to a peer are
/// outstanding, packets for it are answered `again`. That costs a message that is written one more network
/// latency; a message that is read, as most are, costs nothing.
///
/// Writes without a gap would starve a packet. So after a packet was refused no write begins until one
/// packet has been taken, or two polls have passed since the last write ended, in which the packet could
/// have been posted again.
///
/// **Ends.** An operation ends when the endpoint says so, also for a lost peer: until then the memory may
/// still be accessed. One that fails makes its peer lost, as a packet does. The `bye` of this process
/// follows when all its operations to the peer have ended.
namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;

/// Polls until a refused packet is assumed not to come back.
constexpr std::uint32_t patient_looks = 2;

}  // namespace

base::Result<MemoryRegion> Messages::open_memory(std::span<std::byte> memory, Access access) {
  if (memory.empty()) {
    return failure(ErrorClass::other, "memory of 0 bytes cannot be opened; leave it out");
  }
  auto opened = endpoint_->open_memory(memory, access);
  if (opened.ok()) ++counters_.registrations;
  return opened;
}

void Messages::close_memory(const MemoryRegion& opened) { endpoint_->close_memory(opened); }

/// Whether a packet has to wait for the end of earlier writes. Notes that one waits.
bool Messages::waits_for_writes(Peer& peer) noexcept {
  peer.packet_waits = peer.rdma_writes != 0;
  return peer.packet_waits;
}

bool Messages::lets_packet_pass(Peer& peer) const noexcept {
  if (!peer.packet_waits) return false;
  if (peer.rdma_writes == 0 && polls_ - peer.last_write_poll > patient_looks)
    peer.packet_waits = false;
  return peer.packet_waits;
}

/// The peer if an operation can be posted now; else null, and `otherwise` is the answer. Operations for a
/// lost peer end at once.
Peer* Messages::peer_for_rdma(std::uint32_t rank, std::uint64_t token, Post& otherwise) {
  Peer* const peer = ready_peer(rank, wire::PacketKind::data, otherwise);
  if (peer == nullptr) {
    ended_.push_back({token, Sent::lost});
    return nullptr;
  }
  otherwise = Post::again;
  return peer->orders < PendingOperations::most_to_peer ? peer : nullptr;
}

Post Messages::rdma_read(std::uint32_t rank, std::span<std::byte> to, std::uint32_t lkey,
                         const RemoteAddress& from, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  OperationTicket* const ticket = operations_.take();
  if (ticket == nullptr) return refuse(Post::again);
  ticket->kind = OperationTicket::Kind::rdma_read;
  return note_rdma(rank, *peer, token, *ticket,
                   endpoint_->rdma_read(peer->address, to, lkey, from, *ticket));
}

Post Messages::rdma_write(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                          const RemoteAddress& to, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  if (lets_packet_pass(*peer)) return refuse(Post::again);
  OperationTicket* const ticket = operations_.take();
  if (ticket == nullptr) return refuse(Post::again);
  ticket->kind = OperationTicket::Kind::rdma_write;
  return note_rdma(rank, *peer, token, *ticket,
                   endpoint_->rdma_write(peer->address, from, lkey, to, *ticket));
}

/// The operands of atomic operations are in their tickets, whose memory is registered with the first.
Post Messages::atomic(std::uint32_t rank, std::span<std::byte> was, AtomicOperation order,
                      const std::array<std::uint64_t, 2>& operands, std::uint64_t token) {
  if (can_.atomics == Network::Changes::none) {
    ended_.push_back({token, Sent::lost});
    return Post::done;
  }
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return refuse(otherwise);
  OperationTicket* const ticket = operations_.take();
  if (ticket == nullptr) return refuse(Post::again);
  if (!operands_lkey_) {
    auto opened = endpoint_->open_memory(operations_.memory(), Access::local);
    if (opened.failed()) {
      operations_.give_back(*ticket);
      ended_.push_back({token, Sent::lost});
      return Post::done;
    }
    operands_lkey_ = opened->lkey;
  }
  ticket->kind = OperationTicket::Kind::rdma_read;
  ticket->operands = operands;
  order.operands = ticket->operands.data();
  order.operands_lkey = *operands_lkey_;
  const PostResult taken = endpoint_->atomic(peer->address, was, order, *ticket);
  if (taken == PostResult::yes) {
    ++counters_.atomics;
    --counters_.rdma_reads;  // note_rdma counts it as one
  }
  return note_rdma(rank, *peer, token, *ticket, taken);
}

/// A refused caller polls again soon.
Post Messages::refuse(Post answer) noexcept {
  if (answer == Post::again) refused_ = true;
  return answer;
}

Post Messages::note_rdma(std::uint32_t rank, Peer& peer, std::uint64_t token,
                         OperationTicket& ticket, PostResult taken) {
  ticket.peer = rank;
  ticket.token = token;
  if (taken == PostResult::yes) {
    ++peer.orders;
    if (ticket.kind == OperationTicket::Kind::rdma_write) ++peer.rdma_writes;
    ++(ticket.kind == OperationTicket::Kind::rdma_write ? counters_.rdma_writes
                                                        : counters_.rdma_reads);
    return Post::done;
  }
  operations_.give_back(ticket);
  if (taken == PostResult::later) return refuse(Post::again);
  lose_over_network(rank, endpoint_->last_error());
  ended_.push_back({token, Sent::lost});
  return Post::done;
}

void Messages::finish_rdma(OperationTicket& ticket, Event::Kind kind) {
  const std::uint32_t rank = ticket.peer;
  Peer& peer = *peers_[rank];
  const bool is_put = ticket.kind == OperationTicket::Kind::rdma_write;
  --peer.orders;
  if (is_put && --peer.rdma_writes == 0) peer.last_write_poll = polls_;
  const bool failed = kind == Event::Kind::failed;
  if (!failed) peer.has_received = true;
  ended_.push_back({ticket.token, failed ? Sent::lost : Sent::done});
  operations_.give_back(ticket);
  if (failed && !peer.life.has_left()) lose_over_network(rank, endpoint_->last_error());
}

}  // namespace fulmar::fabric::ofi
