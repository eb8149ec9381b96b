// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/flow/outbox.h"

#include "base/copy.h"
#include "device/stats/trace.h"

namespace fulmar::device {

using fabric::Post;

Outbox::~Outbox() {
  for (const auto& peer : peers_.connected()) {
    while (!peer->queue.empty()) {
      Outgoing* item = peer->queue.first;
      peer->queue.pop();
      if (item->kind == Outgoing::Kind::control) delete static_cast<ControlPacket*>(item);
    }
  }
}

Post Outbox::put(Peer& peer, const wire::Envelope& envelope,
                 std::span<const std::byte> body) noexcept {
  const base::TraceSpan span(trace_, posting(envelope.kind), peer.id, envelope.length);
  return transports_.put(peer, envelope, [&](std::span<std::byte> to, std::uint64_t) {
    base::copy_short(to.data(), body.data(), body.size());
  });
}

void Outbox::send_control(Peer& peer, wire::PacketKind kind, const match::Key& key,
                          std::span<const std::byte> body) noexcept {
  if (peer.failed) return;
  const wire::Envelope envelope{kind, 0, key.context, key.tag,
                                static_cast<std::uint32_t>(body.size())};
  if (peer.queue.empty() && put(peer, envelope, body) == Post::done) return;
  auto* packet = new ControlPacket;
  packet->kind = Outgoing::Kind::control;
  packet->envelope = envelope;
  base::copy_bytes(packet->body.data(), body.data(), body.size());
  enqueue(peer, *packet);
}

void Outbox::enqueue(Peer& peer, Outgoing& item) noexcept {
  peer.queue.push(item);
  peer.clear = false;
  if (!peer.in_backlog) {
    peer.in_backlog = true;
    backlog_.push_back(&peer);
    owner_.wake(owner_.context);
  }
}

void Outbox::forget(Peer& peer) noexcept {
  if (!peer.in_backlog) return;
  peer.in_backlog = false;
  std::erase(backlog_, &peer);
}

unsigned Outbox::flush() noexcept {
  unsigned moved = 0;
  for (std::size_t i = 0; i < backlog_.size();) {
    Peer& peer = *backlog_[i];
    const Outgoing* first = peer.queue.first;
    const bool empty = flush(peer);
    if (peer.queue.first != first) ++moved;
    if (!empty) {
      ++i;
      continue;
    }
    peer.in_backlog = false;
    backlog_[i] = backlog_.back();
    backlog_.pop_back();
  }
  return moved;
}

/// Sends from the queue while there is space. True if the queue is empty.
bool Outbox::flush(Peer& peer) noexcept {
  if (peer.failed) return false;
  while (!peer.queue.empty()) {
    Outgoing* item = peer.queue.first;
    if (item->kind == Outgoing::Kind::control) {
      auto* packet = static_cast<ControlPacket*>(item);
      if (put(peer, packet->envelope, {packet->body.data(), packet->envelope.length}) ==
          Post::again) {
        return false;
      }
      peer.queue.pop();
      delete packet;
    } else {
      auto& operation = static_cast<Operation&>(*item);
      // Out of the queue first: a send that completes may be destroyed or started anew by its
      // owner.
      peer.queue.pop();
      if (owner_.post(owner_.context, operation) == Post::again) {
        operation.next = peer.queue.first;
        peer.queue.first = &operation;
        if (operation.next == nullptr) peer.queue.last = &operation;
        return false;
      }
    }
  }
  peers_.update_clear(peer);
  return true;
}

}  // namespace fulmar::device
