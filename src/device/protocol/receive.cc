// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>

#include "device/device.h"

namespace fulmar::device {

using wire::PacketKind;

void Device::start_receive(Operation& operation) noexcept {
  const base::TraceSpan span(config_.trace, "start receive", operation.key().peer,
                             operation.buffer.bytes);
  operation.is_send = false;
  operation.stage = Stage::posted;
  if (match::Unexpected* found = matcher_.find_unexpected(operation.key()); found != nullptr) {
    Arrival& arrival = *Arrival::of(found);
    take_arrival(arrival);
    receive_arrival(operation, arrival);
    return;
  }
  matcher_.post(operation.posted);
  if (failures_.checks_receives()) [[unlikely]]
    failures_.check_posted(operation);
}

Arrival* Device::find_arrival(const match::Key& key) noexcept {
  match::Unexpected* found = matcher_.find_unexpected(key);
  if (found != nullptr) return Arrival::of(found);
  if (flow_.holds_senders()) [[unlikely]]
    flow_.ask_for_probe(key);
  return nullptr;
}

void Device::receive_taken(Operation& operation, Arrival& arrival) noexcept {
  operation.is_send = false;
  operation.stage = Stage::posted;
  receive_arrival(operation, arrival);
}

/// Delivers an unexpected message to its receive, and frees the record.
void Device::receive_arrival(Operation& operation, Arrival& arrival) noexcept {
  const match::Key key = arrival.key();
  const wire::Cookie send = arrival.send;
  switch (arrival.kind) {
    case Arrival::Kind::eager:
    case Arrival::Kind::eager_sync:
      receive_bytes(operation, key, std::span<const std::byte>(arrival.bytes(), arrival.length));
      if (arrival.kind == Arrival::Kind::eager_sync) {
        const wire::CookieBody body{send};
        outbox_.send_control(peers_.connect(key.peer), PacketKind::sync_ack, key,
                             wire::bytes_of(body));
      }
      arrivals_.free(&arrival);
      finish(operation, waiting_);
      break;
    case Arrival::Kind::local: {
      Operation& local = *arrival.local;
      arrivals_.free(&arrival);
      receive_local(operation, local);
      break;
    }
    case Arrival::Kind::announced: {
      const Announced message = arrival.announced();
      settle_length(operation, key, arrival.length);
      write_buffer(operation.buffer, 0,
                   {arrival.bytes(), std::min<std::uint64_t>(message.inlined, operation.length)});
      arrivals_.free(&arrival);
      protocols_.start(operation, peers_.connect(key.peer), message);
      break;
    }
  }
  if (flow_.holds_senders()) [[unlikely]]
    flow_.release_senders();
  if (waiting_.sleeping() || service_.rests()) [[unlikely]]
    wake_for_held();
}

/// A send of this process to itself: both buffers are here.
void Device::receive_local(Operation& operation, Operation& send) noexcept {
  settle_length(operation, send.key(), send.buffer.bytes);
  if (send.buffer.packer == nullptr) {
    write_buffer(operation.buffer, 0,
                 {static_cast<const std::byte*>(send.buffer.address), operation.length});
  } else if (operation.buffer.packer == nullptr) {
    read_buffer(send.buffer, 0,
                {static_cast<std::byte*>(operation.buffer.address), operation.length});
  } else {
    std::array<std::byte, 4096> piece;
    for (std::uint64_t at = 0; at < operation.length; at += piece.size()) {
      const std::uint64_t bytes = std::min<std::uint64_t>(piece.size(), operation.length - at);
      read_buffer(send.buffer, at, {piece.data(), bytes});
      write_buffer(operation.buffer, at, {piece.data(), bytes});
    }
  }
  finish(operation, waiting_);
  operations_.finish_send(send);
  if (waiting_.stale()) waiting_.notify_waiters();
}

/// Delivers the bytes of a packet, without the first `skip`, to a receive.
void Device::receive_bytes(Operation& operation, const match::Key& key, const fabric::Body& body,
                           std::uint64_t skip) noexcept {
  settle_length(operation, key, body.size() - skip);
  copy_body(operation.buffer, 0, body, skip, operation.length);
  if (body.torn()) [[unlikely]]
    operation.outcome.error = base::ErrorClass::proc_failed;
}

}  // namespace fulmar::device
