// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>

#include "device/buffer/runs.h"
#include "device/device.h"

/// Long messages whose bytes adapters move, from where they lie to where they belong, without a
/// copy and without the other processor's help (`rdma_read` and `rdma_write` of fabric::Network).
///
/// **One handshake.** A rendezvous needs two things: the sender has to learn that the receiver is
/// ready, and one of them where the other's memory is. Each way has one exchange for both:
///
/// * *fetch*: the `rts` carries address and key of the sender's memory. The receiver opens its own
///   for itself alone, reads, and answers `fin` when all is there.
/// * *put*: the receiver opens its memory for the sender and answers `cts_put` with address and
///   key. The sender writes, and posts `fin` behind the last write.
///
/// **Fences.** An adapter gives its orders to the peer in order, but a read has happened only when
/// the answer is back: a `fin` behind an order to read would overtake the bytes, and the sender
/// would change them. So the `fin` of a fetch waits until every order has ended. Writes and packets
/// of one connection do arrive in order, which is what `rdma_write` promises: the `fin` of
/// a put follows the last order at once, chained as in the design for Quadrics, and nobody waits
/// for the network a second time. The send is done when its orders have ended, which is later. This
/// also means that a put that fails when its `fin` is out cannot be repeated: whether the receiver
/// has the message is not known here, and the send ends with an error. A `fin` that still waits for
/// room when an order fails is taken back.
///
/// **What the papers found.** The device of Chemnitz for MPICH2 had two exchanges, the rendezvous
/// itself and then one about addresses, and that was what they wanted to mend. Open MPI over
/// Quadrics was faster with reads, because a write needs a packet more before the data move; to
/// chain the `fin` gained little time there, but spares the processor. The zero-copy channel of
/// MPICH2 over InfiniBand reads, because its sender always knows first; the device that wrote
/// instead was ahead from 32 to 256 KiB, since that adapter wrote faster than it read. So `fetch`
/// is the standard here, and FULMAR_RDMA=put is there for adapters that read slowly: many allow
/// only 16 reads on the way.
///
/// **What can be studied.** `RemoteStudy` brings back two habits of the paper about Open MPI on
/// Elan4. Of a message that adapters may move the first bytes may be *inlined*, behind the `rts`: a
/// copy on each side, and what moves remotely begins behind them. That a way was refused, or
/// failed, changes nothing: a stream begins with the first byte again. And the `fin` of a put may
/// stand *apart*: it waits for the end of the last order, as it would have to if nothing could be
/// chained.
///
/// **Data in several runs.** Memory is opened to peers only where it is the message's own, so the
/// side that opens for the other must have one run. The side that gives the orders may have
/// several: it opens what lies between its first and its last byte for itself alone, and gives an
/// order for each run. That is worth it where runs are long (`bounding_range`). So a sender of one run
/// lets the receiver fetch, and a sender of several puts. Packing into memory of our own would be
/// a copy, and as much memory as the message has; what fits neither way goes as a stream, which
/// packs straight into packets.
///
/// **Retreat.** Opening memory fails where the limit on locked memory is low; then the message goes
/// as a stream. A receiver that cannot fetch asks for one. A sender that cannot put answers
/// `no_put`, and the receiver asks for one. That works in the middle, too, when orders fail
/// although the peer can be reached: the side that gave them waits until all have ended, closes its
/// memory and starts again from the first byte. If the peer is lost, the operation ends with an
/// error.
///
/// **Whose memory is open when.** At a sender at least from the announcement to the end of the
/// message (the peer's `fin`, or its choice of another way); at a receiver from its `cts_put` to
/// `fin` or `no_put`. Behind that it may be kept open for the next message
/// (device/regcache/memory_opener.h). A key or an address in a packet is the peer's word: it is
/// passed to the adapter, and what the peer has not opened is refused at its side. While an order
/// of this process is under way nothing that a packet says ends its operation or closes its memory.
namespace fulmar::device {

using fabric::Access;
using fabric::Post;
using wire::PacketKind;

namespace {

/// Bytes of one order: so many that giving it costs nothing beside moving them, so few that other
/// messages get their turn at the adapter.
constexpr std::uint64_t order_bytes = 1U << 20;
/// Orders of one message on the way.
constexpr std::uint32_t most_orders = 16;
/// So much of the data shows whether their runs are long.
constexpr std::uint64_t sample_bytes = 256U << 10;

}  // namespace

bool Device::open_memory(Operation& operation, std::span<std::byte> memory,
                         Access access) noexcept {
  const base::TraceSpan span(config_.trace, "open memory", operation.peer->id, memory.size());
  const Holds holds = operation.buffer.packer == nullptr ? Holds::all : Holds::parts;
  const auto taken = memory_opener_.take(*network(), memory, access, holds);
  if (taken.failed()) {
    ++stats_.counters().refused;
    return false;
  }
  RdmaTransfer& transfer = transfers_.add(operation);
  transfer.memory = taken.value();
  transfer.device = this;
  transfer.ended = [](Completion& completion, fabric::Sent how) noexcept {
    auto& ended = static_cast<RdmaTransfer&>(completion);
    ended.device->order_ended(ended, how);
  };
  transfer.token = completions_.add(transfer);
  operation.transfer = &transfer;
  return true;
}

void Device::close_memory(Operation& operation) noexcept {
  const base::TraceSpan span(config_.trace, "close memory", operation.peer->id);
  memory_opener_.give_back(operation.transfer->memory);
  completions_.remove(operation.transfer->token);
  transfers_.remove(*operation.transfer);
  operation.transfer = nullptr;
}

/// Says in an announcement how adapters could move the message. An announcement that found no room
/// is made again: what was opened for it stays open.
void Device::offer(Operation& send, wire::RtsBody& body) noexcept {
  const RdmaProtocol way = config_.rdma_protocol;
  if (way == RdmaProtocol::off || send.buffer.bytes == 0 || !transports_.moves_remotely(*send.peer))
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
bool Device::may_move_remotely(const Peer& peer) noexcept {
  return config_.rdma_protocol != RdmaProtocol::off && transports_.moves_remotely(peer);
}

bool Device::can_rndv_read(const Operation& receive, const Announced& message) noexcept {
  return (message.flags & wire::rts_open) != 0 && config_.rdma_protocol != RdmaProtocol::put &&
         may_move_remotely(*receive.peer);
}

bool Device::can_rndv_write(const Operation& receive, const Announced& message) noexcept {
  return (message.flags & wire::rts_puts) != 0 && config_.rdma_protocol != RdmaProtocol::fetch &&
         receive.buffer.packer == nullptr && may_move_remotely(*receive.peer);
}

bool Device::start_rndv_read(Operation& receive, const Announced& message) noexcept {
  if (!wire::is_range(message.address, receive.length)) {
    ++stats_.counters().malformed;
    return false;
  }
  const std::span<std::byte> memory = bounding_range(receive.buffer, receive.length);
  if (memory.empty() || !open_memory(receive, memory, Access::local)) return false;
  receive.stage = Stage::fetching;
  receive.protocol = &protocol(ProtocolId::rndv_read);
  start_orders(receive, {message.address, message.key});
  return true;
}

bool Device::start_rndv_write(Operation& receive, const Announced& /*message*/) noexcept {
  const std::span<std::byte> memory = bounding_range(receive.buffer, receive.length);
  if (!open_memory(receive, memory, Access::peers_write)) return false;
  receive.stage = Stage::putting;
  receive.protocol = &protocol(ProtocolId::rndv_write);
  receive.own_cookie = cookies_.add(receive);
  const fabric::MemoryRegion& opened = receive.transfer->memory.opened;
  const wire::PutBody body{receive.peer_cookie, receive.own_cookie, opened.name_of(memory.data()),
                           receive.length, opened.rkey};
  outbox_.send_control(*receive.peer, PacketKind::cts_put, receive.key(), wire::bytes_of(body));
  return true;
}

void Device::on_clear_to_put(Peer& peer, const wire::PutBody& request) noexcept {
  Operation* send = named(peer, request.send, true);
  if (send == nullptr) return;
  if (send->stage != Stage::announced || request.length <= send->inlined ||
      request.length > send->buffer.bytes || !wire::is_range(request.address, request.length)) {
    ++stats_.counters().malformed;
    return;
  }
  if (prepare_put(*send, request)) {
    return start_orders(*send, {request.address, request.key});
  }
  const wire::CookieBody answer{request.receive};
  outbox_.send_control(peer, PacketKind::no_put, send->key(), wire::bytes_of(answer));
}

/// The memory may be open since the announcement.
bool Device::prepare_put(Operation& send, const wire::PutBody& request) noexcept {
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
void Device::on_no_put(Peer& peer, const wire::CookieBody& answer) noexcept {
  Operation* receive = named(peer, answer.operation, false);
  if (receive == nullptr) return;
  if (receive->stage != Stage::putting) {
    ++stats_.counters().malformed;
    return;
  }
  ++stats_.counters().remote_retreats;
  close_memory(*receive);
  cookies_.remove(receive->own_cookie);
  start_stream(*receive);
}

/// The sender has put everything.
void Device::finish_put(Operation& receive) noexcept {
  if (receive.stage != Stage::putting) {
    ++stats_.counters().malformed;
    return;
  }
  close_memory(receive);
  cookies_.remove(receive.own_cookie);
  receive.own_cookie = 0;
  note_written_by_peer(receive.buffer, receive.length);
  finish(receive);
}

/// An operation with orders to give stands among the active ones.
void Device::start_orders(Operation& operation, fabric::RemoteAddress place) noexcept {
  operation.transfer->place = place;
  operation.moved = operation.inlined;
  activate(operation);
  bool in_place = false;
  step_rdma(operation, in_place);
}

/// Gives orders until enough are under way, there is no room, or none is left to give. The
/// operation may be gone then.
unsigned Device::step_rdma(Operation& operation, bool& /*in_place*/) noexcept {
  RdmaTransfer& transfer = *operation.transfer;
  unsigned given = 0;
  while (transfer.orders < most_orders && operation.moved < operation.length && !transfer.lost) {
    if (give_order(operation, transfer) == Post::again) break;
    ++given;
  }
  if (operation.moved == operation.length) {
    deactivate(operation);
    transfer.fin_is_due = config_.remote_study.end_of_put == RemoteStudy::EndOfPut::apart;
    if (operation.is_send && !transfer.fin_is_due) end_put(operation);
  } else if (transfer.lost) {
    deactivate(operation);
    if (transfer.orders == 0) end_orders(operation);
  }
  return given;
}

/// Gives the next order. `moved` counts the bytes of those that were given.
Post Device::give_order(Operation& operation, RdmaTransfer& transfer) noexcept {
  const base::TraceSpan span(config_.trace, operation.is_send ? "order put" : "order fetch",
                             operation.peer->id);
  const std::uint32_t peer = operation.peer->id;
  const std::uint64_t most = std::min<std::uint64_t>(
      {order_bytes, network()->attributes().rdma_bytes, operation.length - operation.moved});
  const std::span<std::byte> run = run_at(operation.buffer, operation.moved, most);
  if (run.empty()) {  // the description of the data contradicts itself
    transfer.lost = true;
    return Post::again;
  }
  const fabric::RemoteAddress place{transfer.place.address + operation.moved, transfer.place.key};
  const std::uint32_t key = transfer.memory.opened.lkey;
  const Post post = operation.is_send ? network()->rdma_write(peer, run, key, place, transfer.token)
                                      : network()->rdma_read(peer, run, key, place, transfer.token);
  if (post == Post::again) {
    transfer.lost = !network()->alive(peer);
    return post;
  }
  ++transfer.orders;
  operation.moved += run.size();
  stats_.counters().remote_bytes += run.size();
  return post;
}

/// An order has ended: the memory is no more needed for it.
void Device::order_ended(RdmaTransfer& transfer, fabric::Sent how) noexcept {
  if (transfer.orders == 0) return;
  --transfer.orders;
  Operation& operation = *transfer.operation;
  if (how == fabric::Sent::lost) {
    transfer.lost = true;
    deactivate(operation);
    // At once: it would find room while the other orders are still under way.
    const bool has_fin = operation.is_send && operation.moved == operation.length;
    if (has_fin && (transfer.fin_is_due || withdraw_fin(operation))) operation.moved = 0;
  }
  if (transfer.orders == 0) end_orders(operation);
}

/// None of an operation's orders is under way.
void Device::end_orders(Operation& operation) noexcept {
  if (operation.transfer->lost) return retreat(operation);
  if (operation.moved < operation.length) return;
  if (operation.is_send) {
    ++stats_.counters().put;
    if (operation.transfer->fin_is_due) end_put(operation);
    return finish_send(operation);
  }
  ++stats_.counters().fetched;
  const wire::CookieBody body{operation.peer_cookie};
  outbox_.send_control(*operation.peer, PacketKind::fin, operation.key(), wire::bytes_of(body));
  close_memory(operation);
  note_written_by_peer(operation.buffer, operation.length);
  finish(operation);
}

/// Tells the peer that all that it asked for has been put.
void Device::end_put(const Operation& send) noexcept {
  const wire::CookieBody body{send.peer_cookie};
  outbox_.send_control(*send.peer, PacketKind::fin, send.key(), wire::bytes_of(body));
}

/// Takes back the fin of a put that waits for room. False if there is none.
bool Device::withdraw_fin(const Operation& send) noexcept {
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
void Device::abort_rdma(Operation& operation, base::ErrorClass error) noexcept {
  deactivate(operation);
  RdmaTransfer& transfer = *operation.transfer;
  if (transfer.orders == 0) return fail(operation, error);
  transfer.lost = transfer.aborted = true;  // order_ended ends it
  operation.outcome.error = error;
}

/// Orders have failed: the message starts again as a stream, or ends.
void Device::retreat(Operation& operation) noexcept {
  const bool fin_is_out = operation.is_send && operation.moved == operation.length;
  if (operation.transfer->aborted) return fail(operation, operation.outcome.error);
  close_memory(operation);
  const bool lost = operation.peer->failed || !transports_.moves_remotely(*operation.peer);
  if (fin_is_out || lost) {
    return fail(operation, lost ? base::ErrorClass::proc_failed : base::ErrorClass::other);
  }
  if (!operation.is_send) {
    ++stats_.counters().remote_retreats;
    return start_stream(operation);
  }
  operation.stage = Stage::announced;
  operation.protocol = nullptr;
  const wire::CookieBody body{operation.peer_cookie};
  outbox_.send_control(*operation.peer, PacketKind::no_put, operation.key(), wire::bytes_of(body));
}

/// Ends messages for which memory is open to a peer that is lost: it gives no sign, and has no
/// order of this process under way that would. Orders of this process end by themselves.
void Device::fail_lost_transfers() noexcept {
  transfers_.for_each([&](RdmaTransfer& transfer) {
    Operation& operation = *transfer.operation;
    const bool waits_for_peer =
        operation.is_send ? operation.stage == Stage::announced : operation.stage == Stage::putting;
    if (!waits_for_peer || transports_.moves_remotely(*operation.peer)) return;
    abort(operation, base::ErrorClass::proc_failed);
  });
}

}  // namespace fulmar::device
