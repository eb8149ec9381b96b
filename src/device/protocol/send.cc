// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "base/copy.h"
#include "device/device.h"
#include "device/stats/trace.h"

namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

Device::Device(const Config& config, base::EngineLock& lock) noexcept
    : config_(config),
      lock_(lock),
      processes_(config.processes != nullptr
                     ? config.processes
                     : std::make_shared<fabric::ProcessTable>(wire::ProcessName{1, config.self, 0},
                                                              config.size)),
      outbox_(transports_, peers_, config.trace,
              {this,
               [](void* device, Operation& send) noexcept {
                 return static_cast<Device*>(device)->post_message(send);
               },
               [](void* device) noexcept { static_cast<Device*>(device)->wake_service(); }}),
      flow_({config_, outbox_, peers_, matcher_, arrivals_, stats_}, handlers_,
            {this,
             [](void* device, Operation& send, bool early) noexcept {
               return static_cast<Device*>(device)->announce(send, early);
             },
             [](void* device) noexcept {
               static_cast<Device*>(device)->failures_.update_receive_checks();
             }}),
      copy_choice_(config.long_copy),
      alarm_bytes_(config.unexpected_budget_bytes) {
  peers_.grow(processes_->size());
  stats_.packet_look().on = config.trace != nullptr;
  peers_.set_traced(config.trace != nullptr);
  add_handlers();
}

/// The three tables change together: the lock is held.
std::optional<std::uint32_t> Device::add_job(std::uint32_t job, std::uint32_t size,
                                             const base::Key& key) {
  const auto first = processes_->add_job(job, size, key);
  if (!first) return first;
  peers_.grow(processes_->size());
  if (fabric::Network* const network = transports_.network(); network != nullptr) {
    network->grow(processes_->size());
  }
  return first;
}

Device::~Device() {
  while (match::Unexpected* left = matcher_.oldest_unexpected()) {
    matcher_.remove(*left);
    arrivals_.free(Arrival::of(left));
  }
}

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
  if (sleeping_ || service_.rests()) [[unlikely]]
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
    finish(operation);
    return;
  }
  arrival->unexpected.key = operation.key();
  arrival->length = operation.buffer.bytes;
  arrival->kind = eager ? Arrival::Kind::eager : Arrival::Kind::local;
  if (!eager) arrival->local = &operation;
  matcher_.add(arrival->unexpected);
  ++stats_.counters().unexpected;
  if (first_waiter_ != nullptr) waiters_stale_ = true;
  stats_.note(Event::Kind::unexpected, operation.key(), operation.buffer.bytes);
  if (eager) {
    read_buffer(operation.buffer, 0, {arrival->bytes(), operation.buffer.bytes});
    finish(operation);
  } else {
    operation.stage = Stage::announced;
  }
  if (waiters_stale_) notify_waiters();
}

Post Device::post_eager(Operation& operation) noexcept {
  const bool sync = operation.mode == SendMode::synchronous;
  if (sync && operation.own_cookie == 0) operation.own_cookie = cookies_.add(operation);
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
    finish_send(operation);
  }
  return post;
}

wire::RtsBody Device::announcement_of(Operation& operation, bool early) noexcept {
  if (operation.own_cookie == 0) operation.own_cookie = cookies_.add(operation);
  const Buffer& buffer = operation.buffer;
  wire::RtsBody body{
      operation.own_cookie,
      buffer.packer == nullptr ? reinterpret_cast<std::uintptr_t>(buffer.address) : 0,
      buffer.bytes,
      early ? wire::rts_early : 0,
      0,
      operation.order};
  operation.inlined = 0;
  if (buffer.bytes >= config_.remote_bytes) offer(operation, body);
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
  if (!send.peer->mapped() || active_ != nullptr) return 0;
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

void Device::finish_send(Operation& operation) noexcept {
  if (operation.own_cookie != 0) {
    cookies_.remove(operation.own_cookie);
    heads_.end(&operation);
    if (operation.transfer != nullptr) close_memory(operation);
    if (operation.stage == Stage::streaming && operation.is_send && operation.stream.token != 0)
      completions_.remove(operation.stream.token);
    if (operation.cancel_requested) [[unlikely]]
      drop_cancel_request(operation);
  }
  operation.own_cookie = 0;
  finish(operation);
}

}  // namespace fulmar::device
