// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "rwapi/node.h"
#include "wire/packets.h"

/// What comes from other processes. Nothing in it is believed: frames that make no sense are dropped.
namespace fulmar::rwapi {

using wire::RwapiKind;

std::byte* Node::begin(const interfaces::Frame& frame) noexcept {
  const auto address = wire::decode<wire::RwapiWrite>(frame.header);
  const bool is_write = static_cast<RwapiKind>(frame.kind) == RwapiKind::write;
  if (!is_write || !address || arena_ == nullptr) return nullptr;
  const Arena::Place place = arena_->find(*address, frame.payload_bytes);
  if (place.error != RWAPI_OK) return nullptr;
  arena_->begin_use(address->block);
  return place.address;
}

void Node::deliver(const interfaces::Frame& frame, Payload payload) noexcept {
  if (arena_ == nullptr) return;
  switch (static_cast<RwapiKind>(frame.kind)) {
    case RwapiKind::small:
      return on_small(frame);
    case RwapiKind::received:
      return on_received(frame);
    case RwapiKind::write:
      return on_write(frame, payload);
    case RwapiKind::refused:
      return on_refused(frame);
    case RwapiKind::ended:
      return on_ended(frame);
    case RwapiKind::ask:
      return on_ask(frame);
    case RwapiKind::no_arena:
      peers_[frame.peer].is_settled = true;
      return;
  }
}

void Node::on_small(const interfaces::Frame& frame) noexcept {
  SmallMessage message{frame.peer, {}};
  if (frame.header.size() != sizeof message.content.data) return;
  if (peers_[frame.peer].queued >= RWAPI_QUEUE) return;
  std::memcpy(message.content.data, frame.header.data(), sizeof message.content.data);
  keep_small(message);
}

void Node::on_received(const interfaces::Frame& frame) noexcept {
  const auto body = wire::decode<wire::RwapiReceived>(frame.header);
  Peer& peer = peers_[frame.peer];
  if (!body || body->count > peer.unreceived) return;
  peer.unreceived -= body->count;
  peer.is_asked = false;
}

void Node::on_ask(const interfaces::Frame& frame) noexcept {
  Peer& peer = peers_[frame.peer];
  peer.has_asked = true;
  if (peer.received != 0) tell_received(peer, frame.peer);
}

void Node::on_write(const interfaces::Frame& frame, Payload payload) noexcept {
  const auto address = wire::decode<wire::RwapiWrite>(frame.header);
  if (!address) return;
  Peer& peer = peers_[frame.peer];
  int error = RWAPI_OK;
  if (payload == Payload::here || payload == Payload::lost) {
    arena_->end_use(address->block);
  } else {
    // Nothing was to be written, or not there.
    error = arena_->find(*address, frame.payload_bytes).error;
    if (payload == Payload::refused && error == RWAPI_OK) error = RWAPI_ERR_ADDRESS;
  }
  if (error != RWAPI_OK) {
    const wire::RwapiRefused body{address->number, error, 0};
    (void)port_->send(frame.peer, static_cast<std::uint8_t>(RwapiKind::refused),
                      wire::bytes_of(body), {}, nullptr);
  }
  peer.ended = address->number;
  if (!peer.owes_ended) owing_.push_back(frame.peer);
  peer.owes_ended = true;
}

void Node::on_refused(const interfaces::Frame& frame) noexcept {
  const auto body = wire::decode<wire::RwapiRefused>(frame.header);
  if (!body || (body->error != RWAPI_ERR_ADDRESS && body->error != RWAPI_ERR_RANGE)) return;
  for (Write* const each : peers_[frame.peer].under_way) {
    if (each->number == body->number && each->error == RWAPI_OK) each->error = body->error;
  }
}

void Node::on_ended(const interfaces::Frame& frame) noexcept {
  const auto body = wire::decode<wire::RwapiEnded>(frame.header);
  if (!body) return;
  Peer& peer = peers_[frame.peer];
  while (!peer.under_way.empty() && peer.under_way.front()->number <= body->through) {
    Write& write = *peer.under_way.front();
    peer.under_way.pop_front();
    end(write);
  }
}

/// One frame for all writes that have ended since the last look.
unsigned Node::step() noexcept {
  if (owing_.empty()) return 0;
  const std::vector<std::uint32_t> owing = std::move(owing_);
  owing_.clear();
  for (const std::uint32_t node : owing) {
    Peer& peer = peers_[node];
    const wire::RwapiEnded body{peer.ended};
    peer.owes_ended = !port_->send(node, static_cast<std::uint8_t>(RwapiKind::ended),
                                   wire::bytes_of(body), {}, nullptr);
    if (peer.owes_ended) owing_.push_back(node);
  }
  return static_cast<unsigned>(owing.size());
}

void Node::segment_mapped(std::uint32_t node, std::uint64_t /*id*/,
                          interfaces::Segment* segment) noexcept {
  Peer& peer = peers_[node];
  // One that comes after its process has gone is not for use: the program may be sending without the lock.
  if (peer.segment != nullptr || peer.is_lost.load(std::memory_order_relaxed)) {
    if (segment != nullptr) port_->release_segment(segment);
    return;
  }
  peer.is_settled = true;
  if (segment == nullptr) return;
  peer.arena = RemoteArena::of(*segment);
  if (!peer.arena) return port_->release_segment(segment);
  peer.segment = segment;
  arena_->add_neighbour(peer.arena->shared());
  peer.small = SmallSender(peer.arena->queue(place_on_host_));
}

void Node::forget_arena(Peer& peer) noexcept {
  if (!peer.arena) return;
  arena_->remove_neighbour(peer.arena->shared());
  peer.arena.reset();
}

void Node::peer_lost(std::uint32_t node) noexcept {
  Peer& peer = peers_[node];
  peer.is_settled = true;
  peer.is_lost.store(true, std::memory_order_relaxed);
  while (!peer.under_way.empty()) {
    Write& write = *peer.under_way.front();
    peer.under_way.pop_front();
    if (write.error == RWAPI_OK) write.error = RWAPI_ERR_FAILED;
    end(write);
  }
  // What it was writing to will never be written to again. The program may be sending to it just now.
  forget_arena(peer);
}

}  // namespace fulmar::rwapi
