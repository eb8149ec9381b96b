// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/rndv_rdma.h"

#include <algorithm>

#include "device/buffer/runs.h"
#include "device/matching/arrival.h"
#include "device/protocol/protocol.h"

/// Long messages whose bytes adapters move from user memory to user memory, without a
/// copy and without the other processor's help (`rdma_read` and `rdma_write` of fabric::Network).
///
/// **One handshake.** A rendezvous has two tasks: to tell the sender that the receiver is
/// ready, and one of them where the other's memory is. Each protocol does both in one exchange:
///
/// * *fetch*: the `rts` carries address and key of the sender's memory. The receiver registers
///   its own for local access, reads, and answers `fin` when all bytes have arrived.
/// * *put*: the receiver registers its memory for the sender and answers `cts_put` with address and
///   key. The sender writes, and posts `fin` behind the last write.
///
/// **Fences.** An adapter processes work requests in order, but a read is complete only when
/// its response has arrived: a `fin` posted behind a read would overtake the bytes, and the sender
/// would change them. So the `fin` of a fetch waits until every read has ended. Writes and packets
/// of one connection do arrive in order, which `rdma_write` guarantees: the `fin` of
/// a put follows the last write at once, chained as in the design for Quadrics, without a second
/// wait for the network. The send is done when its writes have ended, which is later. This
/// also means that a put that fails when its `fin` is out cannot be repeated: whether the receiver
/// has the message is not known here, and the send ends with an error. A `fin` that is still
/// queued when a write fails is withdrawn.
///
/// **What the papers found.** The device of Chemnitz for MPICH2 had two exchanges, the rendezvous
/// itself and then one about addresses, which its authors wanted to avoid. Open MPI over Quadrics
/// was faster with reads, because a write needs one more packet before the data move; chaining the
/// `fin` gained little time there, but relieves the processor. The zero-copy channel of MPICH2 over
/// InfiniBand reads, because its sender always knows first; the device that wrote instead was
/// faster from 32 to 256 KiB, since that adapter wrote faster than it read. So `fetch` is the
/// default here, and FULMAR_RDMA=put is for adapters that read slowly: many allow only 16
/// outstanding reads.
///
/// **What can be studied.** `RemoteStudy` enables two variants of the paper about Open MPI on
/// Elan4. Of a message that adapters may move the first bytes may be *inlined*, behind the `rts`: a
/// copy on each side, and the remote transfer begins behind them. A protocol that was refused, or
/// failed, changes nothing: a stream begins with the first byte again. And the `fin` of a put may
/// be sent *apart*: it waits for the end of the last write, as it would have to if it could not be
/// chained.
///
/// **Data in several runs.** Only memory of the message itself is exposed to peers, so the side
/// that exposes its memory must have one run. The side that posts the work requests may have
/// several: it registers the range from its first to its last byte for local access, and posts one
/// work request for each run. That is worth it where runs are long (`bounding_range`). So a sender
/// of one run lets the receiver fetch, and a sender of several puts. Packing into a buffer of the
/// library would be a copy, and need as much memory as the message; messages that fit neither
/// protocol go as a stream, which packs straight into packets.
///
/// **Retreat.** Registering memory fails where the limit on locked memory is low; then the message
/// goes as a stream. A receiver that cannot fetch requests one. A sender that cannot put answers
/// `no_put`, and the receiver requests one. That works in the middle, too, when work requests fail
/// although the peer can be reached: the side that posted them waits until all have ended, closes
/// its memory and starts again from the first byte. If the peer is lost, the operation ends with an
/// error.
///
/// **Lifetime of registrations.** At a sender at least from the announcement to the end of the
/// message (the peer's `fin`, or its choice of another protocol); at a receiver from its `cts_put`
/// to `fin` or `no_put`. After that they may be kept for the next message
/// (device/regcache/memory_opener.h). A key or an address in a packet is not trusted: it is passed
/// to the adapter, and the peer's adapter refuses access to memory that is not exposed. While a
/// work request of this process is in flight no packet can end its operation or close its memory.
namespace fulmar::device {

using fabric::Access;
using fabric::Post;
using wire::PacketKind;

namespace {

/// Bytes of one work request: enough to make the cost of posting negligible, few enough that other
/// messages get their turn at the adapter.
constexpr std::uint64_t order_bytes = 1U << 20;
/// Work requests of one message in flight.
constexpr std::uint32_t most_orders = 16;
/// How much of the data is examined to find out whether their runs are long.
constexpr std::uint64_t sample_bytes = 256U << 10;

}  // namespace

/// Registers memory of an operation that has none. False: that is not possible now.
bool RndvRdma::open_memory(Operation& operation, std::span<std::byte> memory,
                           Access access) noexcept {
  RdmaTransfer* const transfer = parts_.memory.open(operation, memory, access);
  if (transfer == nullptr) return false;
  transfer->owner = this;
  transfer->ended = [](Completion& completion, fabric::Sent how) noexcept {
    auto& ended = static_cast<RdmaTransfer&>(completion);
    ended.owner->order_ended(ended, how);
  };
  return true;
}

void RndvRdma::offer(Operation& send, wire::RtsBody& body) noexcept {
  const RdmaProtocol way = parts_.config.rdma_protocol;
  if (way == RdmaProtocol::off || send.buffer.bytes == 0 ||
      !parts_.transports.moves_remotely(*send.peer))
    return;
  const bool one_run = send.buffer.packer == nullptr;
  if (one_run && way != RdmaProtocol::put && send.transfer == nullptr) {
    open_memory(send, bounding_range(send.buffer, send.buffer.bytes), Access::peers_read);
  }
  if (send.transfer != nullptr) {
    const fabric::MemoryRegion& opened = send.transfer->memory.opened;
    body.flags |= wire::rts_open;
    body.address = opened.name_of(send.buffer.address);
    body.key = opened.rkey;
  }
  const bool puts = way == RdmaProtocol::put ||
                    (way == RdmaProtocol::automatic && (send.transfer != nullptr || !one_run));
  if (puts && !bounding_range(send.buffer, std::min(send.buffer.bytes, sample_bytes)).empty()) {
    body.flags |= wire::rts_puts;
  }
}

/// Whether adapters may move the bytes of a message from or to this peer.
bool RndvRdma::may_move_remotely(const Peer& peer) noexcept {
  return parts_.config.rdma_protocol != RdmaProtocol::off && parts_.transports.moves_remotely(peer);
}

bool RndvRdma::can_read(const Operation& receive, const Announced& message) noexcept {
  return (message.flags & wire::rts_open) != 0 &&
         parts_.config.rdma_protocol != RdmaProtocol::put && may_move_remotely(*receive.peer);
}

bool RndvRdma::can_write(const Operation& receive, const Announced& message) noexcept {
  return (message.flags & wire::rts_puts) != 0 &&
         parts_.config.rdma_protocol != RdmaProtocol::fetch && receive.buffer.packer == nullptr &&
         may_move_remotely(*receive.peer);
}

bool RndvRdma::start_read(Operation& receive, const Announced& message) noexcept {
  if (!wire::is_range(message.address, receive.length)) {
    ++parts_.stats.counters().malformed;
    return false;
  }
  const std::span<std::byte> memory = bounding_range(receive.buffer, receive.length);
  if (memory.empty() || !open_memory(receive, memory, Access::local)) return false;
  receive.stage = Stage::fetching;
  receive.protocol = &protocol(ProtocolId::rndv_read);
  start_orders(receive, {message.address, message.key});
  return true;
}

bool RndvRdma::start_write(Operation& receive, const Announced& /*message*/) noexcept {
  const std::span<std::byte> memory = bounding_range(receive.buffer, receive.length);
  if (!open_memory(receive, memory, Access::peers_write)) return false;
  receive.stage = Stage::putting;
  receive.protocol = &protocol(ProtocolId::rndv_write);
  parts_.operations.name(receive);
  const fabric::MemoryRegion& opened = receive.transfer->memory.opened;
  const wire::PutBody body{receive.peer_cookie, receive.own_cookie, opened.name_of(memory.data()),
                           receive.length, opened.rkey};
  parts_.outbox.send_control(*receive.peer, PacketKind::cts_put, receive.key(),
                             wire::bytes_of(body));
  return true;
}

void RndvRdma::on_clear_to_put(Peer& peer, const wire::PutBody& request) noexcept {
  Operation* send = parts_.operations.named(peer, request.send, true);
  if (send == nullptr) return;
  if (send->stage != Stage::announced || request.length <= send->inlined ||
      request.length > send->buffer.bytes || !wire::is_range(request.address, request.length)) {
    ++parts_.stats.counters().malformed;
    return;
  }
  if (prepare_put(*send, request)) {
    return start_orders(*send, {request.address, request.key});
  }
  const wire::CookieBody answer{request.receive};
  parts_.outbox.send_control(peer, PacketKind::no_put, send->key(), wire::bytes_of(answer));
}

/// The memory may be registered since the announcement.
bool RndvRdma::prepare_put(Operation& send, const wire::PutBody& request) noexcept {
  if (send.transfer == nullptr) {
    if (!may_move_remotely(*send.peer)) return false;
    const std::span<std::byte> memory = bounding_range(send.buffer, request.length);
    if (memory.empty() || !open_memory(send, memory, Access::local)) return false;
  }
  send.stage = Stage::putting;
  send.protocol = &protocol(ProtocolId::rndv_write);
  send.peer_cookie = request.receive;
  send.length = request.length;
  return true;
}

/// The sender goes back to a stream, from the first byte on.
void RndvRdma::on_no_put(Peer& peer, const wire::CookieBody& answer) noexcept {
  Operation* receive = parts_.operations.named(peer, answer.operation, false);
  if (receive == nullptr) return;
  if (receive->stage != Stage::putting) {
    ++parts_.stats.counters().malformed;
    return;
  }
  ++parts_.stats.counters().remote_retreats;
  parts_.memory.close(*receive);
  parts_.operations.unname(*receive);
  parts_.stream.start(*receive);
}

void RndvRdma::finish_put(Operation& receive) noexcept {
  if (receive.stage != Stage::putting) {
    ++parts_.stats.counters().malformed;
    return;
  }
  parts_.memory.close(receive);
  parts_.operations.unname(receive);
  note_written_by_peer(receive.buffer, receive.length);
  parts_.operations.finish(receive);
}

/// An operation with work requests to post is among the active ones.
void RndvRdma::start_orders(Operation& operation, fabric::RemoteAddress place) noexcept {
  operation.transfer->place = place;
  operation.moved = operation.inlined;
  parts_.active.add(operation);
  bool in_place = false;
  step(operation, in_place);
}

/// Posts work requests until enough are in flight, there is no space, or none is left to post. The
/// operation may be destroyed then.
unsigned RndvRdma::step(Operation& operation, bool& /*in_place*/) noexcept {
  RdmaTransfer& transfer = *operation.transfer;
  unsigned given = 0;
  while (transfer.orders < most_orders && operation.moved < operation.length && !transfer.lost) {
    if (give_order(operation, transfer) == Post::again) break;
    ++given;
  }
  if (operation.moved == operation.length) {
    parts_.active.remove(operation);
    transfer.fin_is_due = parts_.config.remote_study.end_of_put == RemoteStudy::EndOfPut::apart;
    if (operation.is_send && !transfer.fin_is_due) end_put(operation);
  } else if (transfer.lost) {
    parts_.active.remove(operation);
    if (transfer.orders == 0) end_orders(operation);
  }
  return given;
}

/// Posts the next work request. `moved` counts the bytes of those posted.
Post RndvRdma::give_order(Operation& operation, RdmaTransfer& transfer) noexcept {
  const base::TraceSpan span(parts_.config.trace, operation.is_send ? "order put" : "order fetch",
                             operation.peer->id);
  const std::uint32_t peer = operation.peer->id;
  const std::uint64_t most =
      std::min<std::uint64_t>({order_bytes, parts_.transports.network()->attributes().rdma_bytes,
                               operation.length - operation.moved});
  const std::span<std::byte> run = run_at(operation.buffer, operation.moved, most);
  if (run.empty()) {  // the description of the data is inconsistent
    transfer.lost = true;
    return Post::again;
  }
  const fabric::RemoteAddress place{transfer.place.address + operation.moved, transfer.place.key};
  const std::uint32_t key = transfer.memory.opened.lkey;
  const Post post =
      operation.is_send
          ? parts_.transports.network()->rdma_write(peer, run, key, place, transfer.token)
          : parts_.transports.network()->rdma_read(peer, run, key, place, transfer.token);
  if (post == Post::again) {
    transfer.lost = !parts_.transports.network()->alive(peer);
    return post;
  }
  ++transfer.orders;
  operation.moved += run.size();
  parts_.stats.counters().remote_bytes += run.size();
  return post;
}

/// A work request has ended: it does not need the memory any more.
void RndvRdma::order_ended(RdmaTransfer& transfer, fabric::Sent how) noexcept {
  if (transfer.orders == 0) return;
  --transfer.orders;
  Operation& operation = *transfer.operation;
  if (how == fabric::Sent::lost) {
    transfer.lost = true;
    parts_.active.remove(operation);
    // At once: it could be sent while the other work requests are still in flight.
    const bool has_fin = operation.is_send && operation.moved == operation.length;
    if (has_fin && (transfer.fin_is_due || withdraw_fin(operation))) operation.moved = 0;
  }
  if (transfer.orders == 0) end_orders(operation);
}

/// None of an operation's work requests is in flight.
void RndvRdma::end_orders(Operation& operation) noexcept {
  if (operation.transfer->lost) return retreat(operation);
  if (operation.moved < operation.length) return;
  if (operation.is_send) {
    ++parts_.stats.counters().put;
    if (operation.transfer->fin_is_due) end_put(operation);
    return parts_.operations.finish_send(operation);
  }
  ++parts_.stats.counters().fetched;
  const wire::CookieBody body{operation.peer_cookie};
  parts_.outbox.send_control(*operation.peer, PacketKind::fin, operation.key(),
                             wire::bytes_of(body));
  parts_.memory.close(operation);
  note_written_by_peer(operation.buffer, operation.length);
  parts_.operations.finish(operation);
}

/// Sends `fin`: all requested bytes have been put.
void RndvRdma::end_put(const Operation& send) noexcept {
  const wire::CookieBody body{send.peer_cookie};
  parts_.outbox.send_control(*send.peer, PacketKind::fin, send.key(), wire::bytes_of(body));
}

/// Withdraws the queued fin of a put. False if there is none.
bool RndvRdma::withdraw_fin(const Operation& send) noexcept {
  OutgoingQueue& queue = send.peer->queue;
  for (Outgoing* at = queue.first; at != nullptr; at = at->next) {
    if (at->kind != Outgoing::Kind::control) continue;
    auto* packet = static_cast<ControlPacket*>(at);
    const auto body = wire::decode<wire::CookieBody>(packet->body);
    if (packet->envelope.kind != PacketKind::fin || body->operation != send.peer_cookie) continue;
    queue.remove(*packet);
    delete packet;
    return true;
  }
  return false;
}

/// Ends as soon as the adapter is done with the memory.
void RndvRdma::abort(Operation& operation, base::ErrorClass error) noexcept {
  parts_.active.remove(operation);
  RdmaTransfer& transfer = *operation.transfer;
  if (transfer.orders == 0) return parts_.operations.fail(operation, error);
  transfer.lost = transfer.aborted = true;  // order_ended ends it
  operation.outcome.error = error;
}

/// Work requests have failed: the message starts again as a stream, or ends.
void RndvRdma::retreat(Operation& operation) noexcept {
  const bool fin_is_out = operation.is_send && operation.moved == operation.length;
  if (operation.transfer->aborted)
    return parts_.operations.fail(operation, operation.outcome.error);
  parts_.memory.close(operation);
  const bool lost = operation.peer->failed || !parts_.transports.moves_remotely(*operation.peer);
  if (fin_is_out || lost) {
    return parts_.operations.fail(operation,
                                  lost ? base::ErrorClass::proc_failed : base::ErrorClass::other);
  }
  if (!operation.is_send) {
    ++parts_.stats.counters().remote_retreats;
    return parts_.stream.start(operation);
  }
  operation.stage = Stage::announced;
  operation.protocol = nullptr;
  const wire::CookieBody body{operation.peer_cookie};
  parts_.outbox.send_control(*operation.peer, PacketKind::no_put, operation.key(),
                             wire::bytes_of(body));
}

void RndvRdma::fail_lost() noexcept {
  parts_.memory.transfers().for_each([&](RdmaTransfer& transfer) {
    Operation& operation = *transfer.operation;
    const bool waits_for_peer =
        operation.is_send ? operation.stage == Stage::announced : operation.stage == Stage::putting;
    if (!waits_for_peer || parts_.transports.moves_remotely(*operation.peer)) return;
    constexpr auto error = base::ErrorClass::proc_failed;
    operation.protocol == nullptr ? parts_.operations.fail(operation, error)
                                  : abort(operation, error);
  });
}

}  // namespace fulmar::device
