// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "base/copy.h"
#include "device/device.h"

/// Handlers of incoming packets, apart from the fast path for eager messages in device.h. Packets
/// are not trusted: lengths are checked by the channel, bodies are copied before they are read, and
/// a cookie is valid only if it names an operation of this process with the peer that sent it. A
/// malformed packet is counted and dropped.
namespace fulmar::device {

using wire::PacketKind;

void Device::slow_packet(std::uint32_t peer, const wire::Envelope& envelope,
                         const fabric::Body& body) noexcept {
  handlers_.take({peer, envelope, body});
}

/// The budget keeps memory from running out here unless the system itself has none.
Arrival* Device::make_arrival(std::uint64_t bytes) noexcept {
  Arrival* arrival = arrivals_.make(bytes);
  if (arrival == nullptr) [[unlikely]] {
    if (config_.out_of_memory != nullptr) config_.out_of_memory(config_.owner, bytes);
    ++stats_.counters().malformed;
  }
  return arrival;
}

/// Keeps a message until its receive comes.
void Device::unmatched(const match::Key& key, const wire::Envelope& envelope,
                       std::span<const std::byte> body) noexcept {
  wire::Cookie send = 0;
  Arrival::Kind kind = Arrival::Kind::eager;
  if (envelope.kind == PacketKind::eager_sync) {
    kind = Arrival::Kind::eager_sync;
    std::memcpy(&send, body.data(), sizeof send);
    body = body.subspan(sizeof send);
  }
  Arrival* arrival = make_arrival(body.size());
  if (arrival == nullptr) return;
  arrival->unexpected.key = key;
  arrival->kind = kind;
  arrival->send = send;
  arrival->length = body.size();
  base::copy_bytes(arrival->bytes(), body.data(), body.size());
  matcher_.add(arrival->unexpected);
  ++stats_.counters().unexpected;
  waiting_.note_change();
  if (arrivals_.bytes_in_use() > alarm_bytes_) [[unlikely]]
    over_alarm(key, arrival->length);
}

/// No receive was posted (Device::take_packet).
void Device::on_eager(const Packet& packet) noexcept {
  const std::span<const std::byte> message = packet.body.bytes();
  if (!packet.body.torn()) unmatched(packet.key(), packet.envelope, message);
}

void Device::on_eager_sync(const Packet& packet) noexcept {
  const match::Key key = packet.key();
  const fabric::Body& body = packet.body;
  const auto prefix =
      handlers_.decode<wire::SyncBody>(body.part(0, std::min(body.size(), sizeof(wire::SyncBody))));
  if (!prefix) return;
  match::Posted* posted = matcher_.take_posted(key);
  if (posted == nullptr) {
    const std::span<const std::byte> message = body.bytes();
    if (!body.torn()) unmatched(key, packet.envelope, message);
    return;
  }
  Operation& receive = *operation_of(posted);
  receive_bytes(receive, key, body, sizeof *prefix);
  const wire::CookieBody answer{prefix->send};
  outbox_.send_control(peers_.connect(key.peer), PacketKind::sync_ack, key, wire::bytes_of(answer));
  finish(receive, waiting_);
}

namespace {

/// How many bytes of the message came with the rts; nullopt where that cannot be.
std::optional<std::uint32_t> inlined_in(const wire::RtsBody& rts,
                                        std::uint64_t body_bytes) noexcept {
  if ((rts.flags & wire::rts_inlined) == 0) return 0;
  const std::uint64_t inlined = body_bytes - sizeof rts;
  if (inlined > std::min(rts.length, wire::most_inlined_bytes)) return std::nullopt;
  return static_cast<std::uint32_t>(inlined);
}

}  // namespace

void Device::on_announcement(const Packet& packet) noexcept {
  const match::Key key = packet.key();
  const fabric::Body& body = packet.body;
  const auto rts =
      handlers_.decode<wire::RtsBody>(body.part(0, std::min(body.size(), sizeof(wire::RtsBody))));
  // Of a sender that ends while it copies the head not even the announcement may be there. Who waits for it learns of
  // its end as of any other.
  if (!rts || body.torn()) return;
  const auto inlined = inlined_in(*rts, body.size());
  if (!inlined) {
    ++stats_.counters().malformed;
    return;
  }
  Peer& peer = peers_.connect(key.peer);
  if (peer.failed) return;  // its bytes cannot be fetched
  std::erase_if(peer.probed, [&](const Ask& probe) { return probe.key.accepts(key); });
  const bool early = (rts->flags & wire::rts_early) != 0;
  if (early) early_.match();  // earlier ones go first
  match::Posted* posted = early ? matcher_.take_posted_out_of_turn(key) : matcher_.take_posted(key);
  if (posted != nullptr) {
    Operation& receive = *operation_of(posted);
    settle_length(receive, key, rts->length);
    const Announced message{rts->send, rts->address, rts->flags, rts->key, *inlined};
    if (*inlined == 0) return protocols_.start(receive, peer, message);
    if (peer.mapped()) return protocols_.start_with_head(receive, peer, message, body);
    copy_body(receive.buffer, 0, body, sizeof *rts,
              std::min<std::uint64_t>(*inlined, receive.length));
    return protocols_.start(receive, peer, message);
  }
  Arrival* arrival = make_arrival(*inlined);
  if (arrival == nullptr) return;
  arrival->unexpected.key = key;
  arrival->kind = Arrival::Kind::announced;
  arrival->unexpected.out_of_turn = early;
  arrival->order = rts->order;
  arrival->send = rts->send;
  arrival->address = rts->address;
  arrival->flags = static_cast<std::uint8_t>(rts->flags);  // all that are defined are low bits
  arrival->rkey = rts->key;
  arrival->inlined = static_cast<std::uint16_t>(*inlined);
  if (*inlined != 0) {
    const std::span<const std::byte> head = body.part(sizeof *rts, *inlined);
    if (body.torn()) return arrivals_.free(arrival);
    base::copy_bytes(arrival->bytes(), head.data(), head.size());
  }
  arrival->length = rts->length;
  matcher_.add(arrival->unexpected);
  if (early) early_.add(*arrival);
  ++stats_.counters().unexpected;
  waiting_.note_change();
  if (arrivals_.bytes_in_use() > alarm_bytes_) over_alarm(key, rts->length);
}

void Device::on_sync_ack(Peer& peer, const wire::CookieBody& answer) noexcept {
  Operation* send = operations_.named(peer, answer.operation, true);
  if (send != nullptr) acknowledge(*send);
}

void Device::on_fin(Peer& peer, const wire::CookieBody& answer) noexcept {
  Operation* operation = operations_.named(peer, answer.operation);
  if (operation == nullptr) return;
  if (operation->is_send) return acknowledge(*operation);
  rdma_.finish_put(*operation);
}

/// The receiver matched a synchronous send, or has all bytes of a rendezvous.
void Device::acknowledge(Operation& send) noexcept {
  const bool active = send.stage == Stage::sharing || send.stage == Stage::streaming;
  if (!active && send.stage != Stage::announced) {
    ++stats_.counters().malformed;  // it is still queued here, or its bytes are being put
    return;
  }
  if (active) active_.remove(send);
  if (!active) heads_.note(send.buffer.bytes, false);
  operations_.finish_send(send);
}

}  // namespace fulmar::device
