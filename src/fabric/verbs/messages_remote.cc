// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "fabric/verbs/messages.h"

/// RDMA and atomic operations on the memory of peers.
namespace fulmar::fabric::verbs {
namespace {

using base::ErrorClass;
using base::failure;

}  // namespace

base::Result<MemoryRegion> Messages::open_memory(std::span<std::byte> memory, Access access) {
  if (memory.empty()) {
    return failure(ErrorClass::other, "memory of 0 bytes cannot be opened; leave it out");
  }
  auto opened = adapter_->open_memory(memory, access);
  if (opened.failed()) return opened;
  ++counters_.registrations;
  ++counters_.registered_now;
  counters_.registered_bytes += memory.size();
  return opened;
}

void Messages::close_memory(const MemoryRegion& opened) {
  const std::size_t bytes = adapter_->close_memory(opened.handle);
  if (bytes == 0) return;
  --counters_.registered_now;
  counters_.registered_bytes -= bytes;
}

/// Half of the room is left to packets.
bool Messages::has_room_for_rdma(const Peer& peer) const noexcept {
  const std::uint32_t most = std::clamp(peer.room / 2, 1U, PendingRdma::most);
  return peer.pending_rdma.size() < most && peer.under_way() < peer.room && under_way_ < room_ &&
         remote_under_way_ < std::max<std::size_t>(room_ / 2, 1);
}

/// The peer if its queue has room for an operation now; else null, and `otherwise` is the answer.
/// Operations for a lost peer end at once.
Peer* Messages::peer_for_rdma(std::uint32_t rank, std::uint64_t token, Post& otherwise) {
  Peer* const peer = ready_peer(rank, wire::PacketKind::data, otherwise);
  if (peer == nullptr) {
    if (otherwise == Post::done) ended_.push_back({token, Sent::lost});
    return nullptr;
  }
  otherwise = Post::again;
  return has_room_for_rdma(*peer) ? peer : nullptr;
}

Post Messages::rdma_read(std::uint32_t rank, std::span<std::byte> to, std::uint32_t lkey,
                         const RemoteAddress& from, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  const PostResult taken = peer->queue->rdma_read(to, {lkey, from, next_id(rank, *peer)});
  if (taken == PostResult::yes) {
    ++counters_.rdma_reads;
    counters_.rdma_read_bytes += to.size();
  }
  return note_rdma(rank, *peer, token, taken);
}

Post Messages::rdma_write(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                          const RemoteAddress& to, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  WriteWorkRequest work{{lkey, to, next_id(rank, *peer)}};
  work.is_inline = from.size() <= peer->inline_bytes;
  const PostResult taken = peer->queue->rdma_write(from, work);
  if (taken == PostResult::yes) {
    ++counters_.rdma_writes;
    counters_.rdma_write_bytes += from.size();
  }
  return note_rdma(rank, *peer, token, taken);
}

/// Like a packet, but without a header, a sequence number and a buffer at the peer. Dropped for a peer
/// that reads nothing more.
Post Messages::rdma_write_unsignaled(std::uint32_t rank, std::span<const std::byte> from,
                                     std::uint32_t lkey, const RemoteAddress& to) {
  Peer& peer = peer_at(rank);
  if (leaving_ || peer.life.has_left() || peer.life.is_lost()) return Post::done;
  if (!peer.life.is_open()) {
    if (!peer.life.is_pending()) request_connection(rank, peer);
    return peer.life.is_lost() ? Post::done : Post::again;
  }
  if (peer.under_way() >= peer.room || under_way_ >= room_) return Post::again;
  const WriteWorkRequest work{{lkey, to, next_id(rank, peer)}};
  return post_unsignaled(rank, peer, from, work) == PostResult::later ? Post::again : Post::done;
}

PostResult Messages::post_unsignaled(std::uint32_t rank, Peer& peer,
                                     std::span<const std::byte> from, WriteWorkRequest work) {
  SendBuffer* buffer = nullptr;
  work.is_inline = from.size() <= peer.inline_bytes;
  if (!work.is_inline && from.size() <= copied_write_bytes) {
    buffer = pool_->take(from.size());
    if (buffer == nullptr) return PostResult::later;
    std::memcpy(buffer->memory.data(), from.data(), from.size());
    from = buffer->memory.first(from.size());
    work.lkey = send_key_;
  }
  work.is_signaled = wants_completion(peer, buffer);
  const PostResult taken = peer.queue->rdma_write(from, work);
  if (taken == PostResult::yes) {
    ++counters_.unsignaled_writes;
    note_posted(peer, work.is_signaled ? Signaled::yes : Signaled::no, buffer);
    return taken;
  }
  if (buffer != nullptr) pool_->give_back(*buffer);
  if (taken == PostResult::failed) lose(rank, lost_error(rank, peer.queue->last_error()));
  was_refused_ = was_refused_ || taken == PostResult::later;
  return taken;
}

void Messages::give_up(std::uint32_t rank, const base::Error& why) {
  (void)peer_at(rank);
  lose(rank, lost_error(rank, why.text()));
}

Post Messages::rdma_write_with_immediate(std::uint32_t rank, std::span<const std::byte> from,
                                         std::uint32_t lkey, const RemoteAddress& to,
                                         std::uint16_t word, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  if (peer->out.in_flight() >= std::min(peer->window, window_in_place)) {
    return Post::again;
  }
  WriteWorkRequest work{{lkey, to, next_id(rank, *peer)}};
  work.word = wire::verbs_word(peer->cookie_out, peer->out.next(), word);
  const PostResult taken = peer->queue->rdma_write(from, work);
  if (taken == PostResult::yes) {
    peer->out.advance();
    ++counters_.rdma_writes;
    counters_.rdma_write_bytes += from.size();
  }
  return note_rdma(rank, *peer, token, taken);
}

Post Messages::atomic(std::uint32_t rank, std::span<std::byte> was, AtomicWorkRequest work,
                      std::uint64_t token) {
  if (!traits_.atomics) {
    ended_.push_back({token, Sent::lost});
    return Post::done;
  }
  Post otherwise = Post::done;
  Peer* const peer = peer_for_rdma(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  work.id = next_id(rank, *peer);
  const PostResult taken = peer->queue->atomic(was.first(sizeof(std::uint64_t)), work);
  if (taken == PostResult::yes) ++counters_.atomics;
  return note_rdma(rank, *peer, token, taken);
}

Post Messages::note_rdma(std::uint32_t rank, Peer& peer, std::uint64_t token, PostResult taken) {
  switch (taken) {
    case PostResult::yes:
      count_posted(peer);
      peer.unsignaled = 0;
      peer.pending_rdma.add(peer.posted, token);
      ++remote_under_way_;
      return Post::done;
    case PostResult::later:
      was_refused_ = true;
      return Post::again;
    case PostResult::failed:
      break;
  }
  lose(rank, failed_error(rank, peer.queue->last_error()));
  ended_.push_back({token, Sent::lost});
  return Post::done;
}

/// Operations up to this number are done.
void Messages::finish_rdma(Peer& peer, std::uint32_t number) {
  while (const auto token = peer.pending_rdma.take_until(number)) {
    --remote_under_way_;
    ended_.push_back({*token, Sent::done});
  }
}

/// Requires that the queue pair is destroyed.
void Messages::abandon_rdma(Peer& peer) {
  while (const auto token = peer.pending_rdma.take()) {
    --remote_under_way_;
    ended_.push_back({*token, Sent::lost});
  }
}

}  // namespace fulmar::fabric::verbs
