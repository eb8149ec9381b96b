// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/rndv_stream.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.h"
#include "device/protocol/protocol.h"
#include "device/stats/trace.h"

namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

void note_way(CopyChoice& choice, const Operation& receive) noexcept {
  if (receive.way == LongCopy::automatic) return;
  const std::uint64_t ns = receive.peer->occupied.end(receive.started_ns, base::now_ns());
  if (receive.way_counts) choice.record(receive.way, receive.length, ns);
}

namespace {

/// How many pieces one progress call moves of one transfer.
constexpr unsigned pieces_per_step = 4;
/// Bytes of one packet.
constexpr std::size_t packet_bytes = 128U << 10;

/// Where a stream begins: within the node behind the head that came with the announcement. What adapters would have
/// moved (device/protocol/rndv_rdma.cc) is streamed from its first byte.
std::uint64_t streamed_from(const Peer& peer, const Operation& operation) noexcept {
  return peer.mapped() ? operation.inlined : 0;
}

}  // namespace

void RndvStream::start(Operation& receive) noexcept {
  ++parts_.stats.counters().streamed;
  parts_.stats.note(Event::Kind::streamed,
                    {receive.key().context, receive.peer->id, receive.outcome.tag}, receive.length);
  receive.stage = Stage::streaming;
  receive.protocol = &protocol(ProtocolId::rndv_stream);
  receive.moved = streamed_from(*receive.peer, receive);
  parts_.operations.name(receive);
  const wire::StreamBody body{receive.peer_cookie, receive.own_cookie, receive.length};
  parts_.outbox.send_control(*receive.peer, PacketKind::cts_stream, receive.key(),
                             wire::bytes_of(body));
}

void RndvStream::on_clear_to_stream(Peer& peer, const wire::StreamBody& request) noexcept {
  Operation* send = parts_.operations.named(peer, request.send, true);
  if (send == nullptr) return;
  if ((send->stage != Stage::announced && send->stage != Stage::sharing) ||
      request.length > send->buffer.bytes || request.length < streamed_from(peer, *send)) {
    ++parts_.stats.counters().malformed;
    return;
  }
  if (send->stage == Stage::sharing) parts_.active.remove(*send);
  if (send->transfer != nullptr) parts_.memory.close(*send);
  if (peer.mapped()) parts_.heads.note(send->buffer.bytes, true);
  parts_.heads.end(send);
  send->stage = Stage::streaming;
  std::construct_at(&send->stream);
  send->protocol = &protocol(ProtocolId::rndv_stream);
  send->peer_cookie = request.receive;
  send->length = request.length;
  send->moved = streamed_from(peer, *send);
  parts_.active.add(*send);
}

void RndvStream::on_data(const Packet& packet) noexcept {
  const fabric::Body& body = packet.body;
  Peer& peer = parts_.peers.connect(packet.peer);
  const auto data = parts_.handlers.decode<wire::DataBody>(
      body.part(0, std::min(body.size(), sizeof(wire::DataBody))));
  Operation* receive = data ? parts_.operations.named(peer, data->receive, false) : nullptr;
  if (receive == nullptr) return;
  const std::uint64_t bytes = body.size() - sizeof *data;
  // Through shared memory the packets of a message arrive in order; those of several rails may not.
  const bool in_turn = !peer.mapped() || data->offset == receive->moved;
  if (receive->stage != Stage::streaming || !in_turn || data->offset > receive->length ||
      bytes > receive->length - data->offset) {
    ++parts_.stats.counters().malformed;
    return;
  }
  // Both ways, four buffers and two rings of this size do not fit into the shared cache; stores past
  // it leave it to the rings. One way, the receiver alone would be slower with them.
  const bool sends = !parts_.active.empty() && parts_.active.first()->is_send;
  const bool past_caches = peer.mapped() && sends && receive->length >= base::past_caches_bytes;
  copy_body(receive->buffer, data->offset, body, sizeof *data, bytes,
            past_caches ? base::StoreKind::non_temporal : base::StoreKind::cached);
  if (body.torn()) return;
  add(*receive, bytes);
}

void RndvStream::add(Operation& receive, std::uint64_t bytes) noexcept {
  receive.moved += std::min(bytes, receive.length - receive.moved);
  if (receive.moved < receive.length) return;
  if (receive.stage == Stage::arriving) {
    receive.peer->arriving = nullptr;
    return parts_.operations.finish(receive);
  }
  note_way(parts_.copy_choice, receive);
  parts_.operations.unname(receive);
  parts_.operations.finish(receive);
}

unsigned RndvStream::step(Operation& send, bool& in_place) noexcept {
  unsigned moved = 0;
  while (moved < pieces_per_step && send.moved < send.length) {
    const base::TraceSpan span(parts_.config.trace, posting(PacketKind::data), send.peer->id);
    const bool takes_memory = !send.peer->mapped() && parts_.transports.network()->sends_in_place();
    const Post post = takes_memory ? post_in_place(send) : post_part(send, packet_bytes);
    if (post == Post::again) return moved;
    ++moved;
  }
  if (send.moved == send.length) {
    parts_.active.remove(send);
    in_place = send.stream.in_place != 0;
    if (!in_place) parts_.operations.finish_send(send);
  }
  return moved;
}

void RndvStream::abort(Operation& operation, base::ErrorClass error) noexcept {
  parts_.active.remove(operation);
  if (operation.is_send && operation.stream.in_place != 0) {
    operation.outcome.error = error;
    operation.moved = operation.length;  // part_sent ends it
    return;
  }
  parts_.operations.fail(operation, error);
}

/// Posts the next part of a streaming send by way of a packet of at most `most_bytes`.
Post RndvStream::post_part(Operation& send, std::size_t most_bytes) noexcept {
  const wire::DataBody head{send.peer_cookie, send.moved};
  const std::size_t limit =
      std::min(parts_.transports.body_limit(*send.peer, most_bytes), most_bytes) - sizeof head;
  const std::uint64_t bytes = std::min<std::uint64_t>(limit, send.length - send.moved);
  const wire::Envelope envelope{PacketKind::data, 0, 0, 0,
                                static_cast<std::uint32_t>(sizeof head + bytes)};
  const Post post = parts_.transports.put(
      *send.peer, envelope, BodyWriter(wire::bytes_of(head), send.buffer, send.moved));
  if (post == Post::done) send.moved += bytes;
  return post;
}

/// Posts the next part of a streaming send on a network that takes it from the user's memory. Data
/// that are not one run go as an iovec; pieces of a few bytes each are cheaper to copy than to
/// describe.
fabric::Post RndvStream::post_in_place(Operation& send) noexcept {
  const std::uint32_t peer = send.peer->id;
  const wire::DataBody head{send.peer_cookie, send.moved};
  const std::size_t limit = parts_.transports.network()->in_place_limit(peer) - sizeof head;
  std::uint64_t bytes = std::min<std::uint64_t>(limit, send.length - send.moved);
  std::array<iovec, most_pieces> pieces;
  std::size_t count = 1;
  if (send.buffer.packer == nullptr) {
    pieces[0] = {static_cast<std::byte*>(send.buffer.address) + send.moved, bytes};
  } else {
    const std::size_t most =
        std::min(pieces.size(), parts_.transports.network()->attributes().pieces);
    count = send.buffer.packer->segments(send.buffer.address, send.moved, bytes,
                                         std::span(pieces).first(most));
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) covered += pieces[i].iov_len;
    if (covered < count * smallest_piece_bytes) count = 0;
    bytes = covered;
  }
  if (count == 0) return post_part(send, parts_.transports.network()->attributes().body_bytes);
  const wire::Envelope envelope{wire::PacketKind::data, 0, 0, 0,
                                static_cast<std::uint32_t>(sizeof head + bytes)};
  if (send.stream.token == 0) {
    send.stream.ended = [](Completion& completion, fabric::Sent how) noexcept {
      const auto& stream = static_cast<StreamState&>(completion);
      stream.owner->part_sent(*stream.send, how);
    };
    send.stream.owner = this;
    send.stream.send = &send;
    send.stream.token = parts_.completions.add(send.stream);
  }
  const fabric::Post post = parts_.transports.network()->post_in_place(
      peer, envelope, wire::bytes_of(head), std::span(pieces).first(count), send.stream.token);
  if (post == fabric::Post::done) {
    ++send.stream.in_place;
    send.moved += bytes;
  }
  return post;
}

/// The network is done with the memory of one packet. If the peer is lost, the send ends with an
/// error.
void RndvStream::part_sent(Operation& send, fabric::Sent how) noexcept {
  if (send.stream.in_place == 0) return;
  --send.stream.in_place;
  if (how == fabric::Sent::lost) send.outcome.error = base::ErrorClass::proc_failed;
  if (send.stream.in_place == 0 && send.moved == send.length) parts_.operations.finish_send(send);
}

}  // namespace fulmar::device
