// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/operations.h"

#include "device/peer/peer.h"

namespace fulmar::device {

void settle_length(Operation& receive, const match::Key& key, std::uint64_t length) noexcept {
  receive.outcome.peer = key.peer;
  receive.outcome.tag = key.tag;
  receive.outcome.cancelled = false;
  receive.outcome.bytes = length;
  receive.outcome.error = base::ErrorClass::success;
  receive.length = length;
  if (length > receive.buffer.bytes) [[unlikely]] {
    receive.length = receive.outcome.bytes = receive.buffer.bytes;
    receive.outcome.error = base::ErrorClass::truncate;
  }
}

Operation* Operations::named(const Peer& peer, wire::Cookie cookie) noexcept {
  Operation* operation = named_.find(cookie);
  if (operation != nullptr && operation->peer == &peer) return operation;
  ++parts_.stats.counters().malformed;
  return nullptr;
}

Operation* Operations::named(const Peer& peer, wire::Cookie cookie, bool send) noexcept {
  Operation* operation = named(peer, cookie);
  if (operation == nullptr || operation->is_send == send) return operation;
  ++parts_.stats.counters().malformed;
  return nullptr;
}

void Operations::finish_send(Operation& operation) noexcept {
  if (operation.own_cookie != 0) {
    named_.remove(operation.own_cookie);
    parts_.heads.end(&operation);
    if (operation.transfer != nullptr) parts_.memory.close(operation);
    if (operation.stage == Stage::streaming && operation.is_send && operation.stream.token != 0)
      parts_.completions.remove(operation.stream.token);
    if (operation.cancel_requested) [[unlikely]]
      owner_.cancel_ended(owner_.context, operation);
  }
  operation.own_cookie = 0;
  finish(operation);
}

void Operations::fail(Operation& operation, base::ErrorClass error) noexcept {
  if (operation.transfer != nullptr) parts_.memory.close(operation);
  operation.outcome.error = error;
  operation.outcome.bytes = 0;
  finish_send(operation);
}

}  // namespace fulmar::device
