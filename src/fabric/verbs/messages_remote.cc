// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "fabric/verbs/messages.h"

/// Reading and writing the memory of peers.
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
  ++counters_.openings;
  ++counters_.open_now;
  counters_.open_bytes += memory.size();
  return opened;
}

void Messages::close_memory(const MemoryRegion& opened) {
  const std::size_t bytes = adapter_->close_memory(opened.handle);
  if (bytes == 0) return;
  --counters_.open_now;
  counters_.open_bytes -= bytes;
}

/// Half of everything is left to packets.
bool Messages::has_room_for_order(const Peer& peer) const noexcept {
  const std::uint32_t most = std::clamp(peer.room / 2, 1U, Orders::most);
  return peer.orders.size() < most && peer.under_way() < peer.room && under_way_ < room_ &&
         remote_under_way_ < std::max<std::size_t>(room_ / 2, 1);
}

/// The peer if its queue takes an order now; else null, and what to answer. Orders for a peer that
/// is lost end at once.
Peer* Messages::peer_for_order(std::uint32_t rank, std::uint64_t token, Post& otherwise) {
  Peer* const peer = ready_peer(rank, wire::PacketKind::data, otherwise);
  if (peer == nullptr) {
    if (otherwise == Post::done) ended_.push_back({token, Sent::lost});
    return nullptr;
  }
  otherwise = Post::again;
  return has_room_for_order(*peer) ? peer : nullptr;
}

Post Messages::fetch(std::uint32_t rank, std::span<std::byte> to, std::uint32_t lkey,
                     const RemoteAddress& from, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  const Taken taken = peer->queue->fetch(to, {lkey, from, next_id(rank, *peer)});
  if (taken == Taken::yes) {
    ++counters_.fetches;
    counters_.fetched_bytes += to.size();
  }
  return note_order(rank, *peer, token, taken);
}

Post Messages::put(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                   const RemoteAddress& to, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  PutOrder order{{lkey, to, next_id(rank, *peer)}};
  order.is_inline = from.size() <= peer->inline_bytes;
  const Taken taken = peer->queue->put(from, order);
  if (taken == Taken::yes) {
    ++counters_.puts;
    counters_.put_bytes += from.size();
  }
  return note_order(rank, *peer, token, taken);
}

/// Like a packet without a header, a number and a buffer at the peer. For a peer that reads nothing
/// any more it is dropped.
Post Messages::put_quietly(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                           const RemoteAddress& to) {
  Peer& peer = peer_at(rank);
  if (leaving_ || peer.life.has_left() || peer.life.is_lost()) return Post::done;
  if (!peer.life.is_open()) {
    if (!peer.life.is_meeting()) want(rank, peer);
    return peer.life.is_lost() ? Post::done : Post::again;
  }
  if (peer.under_way() >= peer.room || under_way_ >= room_) return Post::again;
  const PutOrder order{{lkey, to, next_id(rank, peer)}};
  return hand_over_quietly(rank, peer, from, order) == Taken::later ? Post::again : Post::done;
}

Taken Messages::hand_over_quietly(std::uint32_t rank, Peer& peer, std::span<const std::byte> from,
                                  PutOrder order) {
  SendBuffer* buffer = nullptr;
  order.is_inline = from.size() <= peer.inline_bytes;
  if (!order.is_inline && from.size() <= copied_put_bytes) {
    buffer = pool_->take(from.size());
    if (buffer == nullptr) return Taken::later;
    std::memcpy(buffer->memory.data(), from.data(), from.size());
    from = buffer->memory.first(from.size());
    order.lkey = send_key_;
  }
  order.is_told = is_to_be_told(peer, buffer);
  const Taken taken = peer.queue->put(from, order);
  if (taken == Taken::yes) {
    ++counters_.quiet_puts;
    note_posted(peer, order.is_told ? Told::yes : Told::no, buffer);
    return taken;
  }
  if (buffer != nullptr) pool_->give_back(*buffer);
  if (taken == Taken::failed) lose(rank, lost_error(rank, peer.queue->last_error()));
  was_refused_ = was_refused_ || taken == Taken::later;
  return taken;
}

void Messages::give_up(std::uint32_t rank, const base::Error& why) {
  (void)peer_at(rank);
  lose(rank, lost_error(rank, why.text()));
}

Post Messages::put_and_tell(std::uint32_t rank, std::span<const std::byte> from, std::uint32_t lkey,
                            const RemoteAddress& to, std::uint16_t word, std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  if (peer->out.in_flight() >= std::min(peer->window, window_in_place)) {
    return Post::again;
  }
  PutOrder order{{lkey, to, next_id(rank, *peer)}};
  order.word = wire::verbs_word(peer->cookie_out, peer->out.next(), word);
  const Taken taken = peer->queue->put(from, order);
  if (taken == Taken::yes) {
    peer->out.advance();
    ++counters_.puts;
    counters_.put_bytes += from.size();
  }
  return note_order(rank, *peer, token, taken);
}

Post Messages::change(std::uint32_t rank, std::span<std::byte> was, ChangeOrder order,
                      std::uint64_t token) {
  if (!traits_.changes) {
    ended_.push_back({token, Sent::lost});
    return Post::done;
  }
  Post otherwise = Post::done;
  Peer* const peer = peer_for_order(rank, token, otherwise);
  if (peer == nullptr) return otherwise;
  order.id = next_id(rank, *peer);
  const Taken taken = peer->queue->change(was.first(sizeof(std::uint64_t)), order);
  if (taken == Taken::yes) ++counters_.changes;
  return note_order(rank, *peer, token, taken);
}

Post Messages::note_order(std::uint32_t rank, Peer& peer, std::uint64_t token, Taken taken) {
  switch (taken) {
    case Taken::yes:
      count_posted(peer);
      peer.untold = 0;
      peer.orders.add(peer.posted, token);
      ++remote_under_way_;
      return Post::done;
    case Taken::later:
      was_refused_ = true;
      return Post::again;
    case Taken::failed:
      break;
  }
  lose(rank, failed_error(rank, peer.queue->last_error()));
  ended_.push_back({token, Sent::lost});
  return Post::done;
}

/// Those up to this number are done.
void Messages::finish_orders(Peer& peer, std::uint32_t number) {
  while (const auto token = peer.orders.take_until(number)) {
    --remote_under_way_;
    ended_.push_back({*token, Sent::done});
  }
}

/// Requires that there is no queue any more.
void Messages::abandon_orders(Peer& peer) {
  while (const auto token = peer.orders.take()) {
    --remote_under_way_;
    ended_.push_back({*token, Sent::lost});
  }
}

}  // namespace fulmar::fabric::verbs
