// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "base/copy.h"
#include "device/device.h"
#include "device/stats/trace.h"

/// Sends, as far as they leave in one packet or are announced.
namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

void Device::start_send(Operation& operation) noexcept {
  const base::TraceSpan span(config_.trace, "start send", operation.key().peer,
                             operation.buffer.bytes);
  operation.is_send = true;
  operation.stage = Stage::idle;
  operation.order = 0;
  operation.cancel_requested = false;
  operation.protocol = nullptr;
  operation.outcome = {operation.key().peer, operation.key().tag, operation.buffer.bytes,
                       base::ErrorClass::success, false};
  if (operation.key().peer == config_.self) {
    operation.peer = nullptr;
    send_to_self(operation);
    return;
  }
  Peer& peer = peers_.connect(operation.key().peer);
  operation.peer = &peer;
  if (peer.holds) {  // or it has failed
    peer.failed ? failures_.fail(operation, {base::ErrorClass::proc_failed, peer.id})
                : flow_.keep(operation);
  } else if (!peer.queue.empty() || post_message(operation) == Post::again) {
    operation.stage = Stage::queued;
    operation.kind = Outgoing::Kind::message;
    outbox_.enqueue(peer, operation);
  }
  if (waiting_.sleeping() || service_.rests()) [[unlikely]]
    wake_for_held();
}

void Device::send_to_self(Operation& operation) noexcept {
  if (match::Posted* posted = matcher_.take_posted(operation.key()); posted != nullptr) {
    receive_local(*operation_of(posted), operation);
    return;
  }
  const bool eager = operation.mode == SendMode::standard &&
                     operation.buffer.bytes <= config_.eager_bytes &&
                     arrivals_.bytes_in_use() < config_.unexpected_budget_bytes;
  Arrival* arrival = arrivals_.make(eager ? operation.buffer.bytes : 0);
  if (arrival == nullptr) {
    operation.outcome.error = base::ErrorClass::no_mem;
    finish(operation, waiting_);
    return;
  }
  arrival->unexpected.key = operation.key();
  arrival->length = operation.buffer.bytes;
  arrival->kind = eager ? Arrival::Kind::eager : Arrival::Kind::local;
  if (!eager) arrival->local = &operation;
  matcher_.add(arrival->unexpected);
  ++stats_.counters().unexpected;
  waiting_.note_change();
  stats_.note(Event::Kind::unexpected, operation.key(), operation.buffer.bytes);
  if (eager) {
    read_buffer(operation.buffer, 0, {arrival->bytes(), operation.buffer.bytes});
    finish(operation, waiting_);
  } else {
    operation.stage = Stage::announced;
  }
  if (waiting_.stale()) waiting_.notify_waiters();
}

namespace {

bool fits_eager(const Config& config, Transports& transports, Peer& peer,
                std::uint64_t bytes) noexcept {
  return bytes <= config.eager_bytes && bytes <= transports.body_limit(peer, bytes);
}

}  // namespace

/// Whether a message of so many bytes goes without an announcement.
bool Device::sends_eagerly(std::uint32_t to, std::uint64_t bytes) noexcept {
  return fits_eager(config_, transports_, peers_.connect(to), bytes);
}

/// The message, or its announcement.
Post Device::post_message(Operation& operation) noexcept {
  const bool sync = operation.mode == SendMode::synchronous;
  const std::uint64_t body = operation.buffer.bytes + (sync ? sizeof(wire::SyncBody) : 0);
  return fits_eager(config_, transports_, *operation.peer, body) ? post_eager(operation)
                                                                 : post_announcement(operation);
}

Post Device::post_eager(Operation& operation) noexcept {
  const bool sync = operation.mode == SendMode::synchronous;
  if (sync && operation.own_cookie == 0) operations_.name(operation);
  const Buffer& buffer = operation.buffer;
  const wire::SyncBody head{operation.own_cookie};
  const std::span<const std::byte> prefix =
      sync ? wire::bytes_of(head) : std::span<const std::byte>();
  const wire::Envelope envelope{sync ? PacketKind::eager_sync : PacketKind::eager, 0,
                                operation.key().context, operation.key().tag,
                                static_cast<std::uint32_t>(buffer.bytes + prefix.size())};
  const base::TraceSpan span(config_.trace, posting(envelope.kind), operation.peer->id,
                             envelope.length);
  const Post post = transports_.put(*operation.peer, envelope, BodyWriter(prefix, buffer, 0));
  if (post == Post::again) return post;
  ++stats_.counters().eager_sends;
  if (sync) {
    operation.stage = Stage::announced;
  } else {
    operations_.finish_send(operation);
  }
  return post;
}

wire::RtsBody Device::announcement_of(Operation& operation, bool early) noexcept {
  if (operation.own_cookie == 0) operations_.name(operation);
  const Buffer& buffer = operation.buffer;
  wire::RtsBody body{
      operation.own_cookie,
      buffer.packer == nullptr ? reinterpret_cast<std::uintptr_t>(buffer.address) : 0,
      buffer.bytes,
      early ? wire::rts_early : 0,
      0,
      operation.order};
  operation.inlined = 0;
  if (buffer.bytes >= config_.remote_bytes) rdma_.offer(operation, body);
  return body;
}

/// For an announcement that is queued as a control packet: it is not made again.
wire::RtsBody Device::announce(Operation& operation, bool early) noexcept {
  const wire::RtsBody body = announcement_of(operation, early);
  operation.stage = Stage::announced;
  check_read_by_peer(operation.buffer);
  stats_.count_announced(operation.key(), operation.buffer.bytes);
  return body;
}

/// Bytes of a message that adapters may move that travel with its announcement.
std::uint32_t Device::inlined_bytes(const Operation& send, const wire::RtsBody& body) noexcept {
  const std::uint64_t wanted =
      std::min({config_.remote_study.inlined_bytes, send.buffer.bytes, wire::most_inlined_bytes});
  if (wanted == 0 || (body.flags & (wire::rts_open | wire::rts_puts)) == 0) return 0;
  const std::size_t limit = transports_.body_limit(*send.peer, sizeof body + wanted);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, limit - sizeof body));
}

/// The same for a message within the node that is likely to be streamed.
std::uint32_t Device::head_bytes(const Operation& send) noexcept {
  if (!send.peer->mapped() || !active_.empty()) return 0;
  const std::uint64_t wanted = heads_.wanted(send.buffer.bytes);
  if (wanted == 0) return 0;
  const std::size_t limit = transports_.body_limit(*send.peer, sizeof(wire::RtsBody) + wanted);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(wanted, limit - std::min(limit, sizeof(wire::RtsBody))));
}

Post Device::post_announcement(Operation& operation) noexcept {
  wire::RtsBody body = announcement_of(operation, false);
  operation.inlined = inlined_bytes(operation, body);
  const std::uint32_t head = operation.inlined == 0 ? head_bytes(operation) : 0;
  operation.inlined += head;
  if (operation.inlined != 0) body.flags |= wire::rts_inlined;
  const wire::Envelope envelope{PacketKind::rts, 0, operation.key().context, operation.key().tag,
                                static_cast<std::uint32_t>(sizeof body + operation.inlined)};
  const base::TraceSpan span(config_.trace, posting(envelope.kind), operation.peer->id,
                             envelope.length);
  const Post post = transports_.put(*operation.peer, envelope,
                                    BodyWriter(wire::bytes_of(body), operation.buffer, 0));
  if (post == Post::again) return post;
  if (head != 0) heads_.begin(&operation);
  operation.stage = Stage::announced;
  check_read_by_peer(operation.buffer);
  stats_.count_announced(operation.key(), operation.buffer.bytes);
  return post;
}

}  // namespace fulmar::device
