// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "base/clock.h"
#include "device/device.h"
#include "device/stats/trace.h"

/// Long messages. The sender announces address and length (`rts`); once the receive is known the
/// receiver chooses how the bytes move:
///
/// * share: sender and receiver copy together. The receiver names a descriptor in its memory from
///   which both take the next piece until none is left, and each moves its pieces by a single copy
///   between the two address spaces, the receiver reading, the sender writing. Two cores copy twice
///   as fast as one. A sender that is busy elsewhere takes no pieces, and the receiver does not
///   wait for it.
/// * read: the receiver reads everything; for what is too short to share.
/// * stream: the sender copies pieces into the ring and the receiver out of it, both at once.
///   This always works. It is used for data that are not one run at the sender, and the others fall
///   back to it, also in the middle of a message, when the kernel refuses a copy. Networks take the
///   bytes from the sender's memory and put them into the receiver's; see
///   device/protocol/in_place.cc. Within a node the first bytes travel with the announcement (`Heads`).
/// * fetch, put: adapters read or write the peer's memory; see device/protocol/remote.cc.
///
/// One handshake in each case: rts, and `fin` when the receiver has all (stream needs none).
/// The bytes move inside progress, a bounded amount in each call, so that a test call returns
/// soon.
namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

namespace {

constexpr std::uint64_t piece_bytes = 64U << 10;
/// How many pieces one progress call moves of one transfer.
constexpr unsigned pieces_per_step = 4;
constexpr std::size_t most_segments = 256;
/// Bytes of one packet of a stream.
constexpr std::size_t stream_packet_bytes = 128U << 10;

/// Where a stream begins: within the node behind the head that came with the announcement. What adapters would have
/// moved (device/protocol/remote.cc) is streamed from its first byte.
std::uint64_t streamed_from(const Peer& peer, const Operation& operation) noexcept {
  return peer.mapped() ? operation.inlined : 0;
}

std::uint64_t piece_count(std::uint64_t length) noexcept {
  return (length + piece_bytes - 1) / piece_bytes;
}

}  // namespace

/// Whether both sides could copy this message together: the case in which there is a choice.
bool Device::could_share(const Operation& receive) noexcept {
  if (receive.remote == 0 || receive.length < config_.share_bytes) return false;
  if (receive.buffer.packer != nullptr) return false;
  return receive.peer->mapped() && transports_.can_reach(*receive.peer);
}

/// Where there is a choice: takes the way that was measured to be faster, and starts the timing.
void Device::choose_copy(Operation& receive) noexcept {
  receive.way = LongCopy::automatic;
  if (!could_share(receive)) return;
  const CopyChoice::Pick pick = copy_choice_.pick(receive.length);
  receive.way = pick.way;
  receive.way_counts = pick.counts;
  receive.started_ns = base::now_ns();
}

/// The announcement of a message within the node has brought its first bytes, of which some may yet be
/// on their way through the ring. Where the rest will be streamed it is asked for before they are copied.
void Device::receive_head(Operation& receive, Peer& peer, const Announced& message,
                          const fabric::Body& body) noexcept {
  const std::uint64_t bytes = std::min<std::uint64_t>(message.inlined, receive.length);
  const bool has_rest = receive.length > bytes;
  receive.peer = &peer;
  receive.peer_cookie = message.send;
  receive.remote = message.address;
  receive.inlined = message.inlined;
  receive.moved = 0;
  receive.way = LongCopy::automatic;
  if (has_rest) choose_copy(receive);
  const bool streams = receive.way == LongCopy::stream;
  if (streams) start_stream(receive);
  copy_body(receive.buffer, 0, body, sizeof(wire::RtsBody), bytes);
  if (streams)
    return;  // should the peer have died meanwhile, that ends the receive as any other one
  if (body.torn()) [[unlikely]] {
    receive.outcome.error = base::ErrorClass::proc_failed;
    return finish(receive);
  }
  has_rest ? run_rendezvous(receive, message) : finish_rendezvous(receive);
}

bool Device::can_rndv_share(const Operation& receive, const Announced& /*message*/) noexcept {
  return receive.way == LongCopy::share;
}

bool Device::start_rndv_share(Operation& receive, const Announced& /*message*/) noexcept {
  const std::uint32_t descriptor = shares_.take();
  if (descriptor == SharePool::none) {
    receive.way_counts = false;  // too many are in flight: another protocol, which is not timed
    return false;
  }
  receive.share = {descriptor, shares_.generation(descriptor)};
  wire::ShareDescriptor& share = node()->channel().share(node()->shm().self(), descriptor);
  share.copied.store(0, std::memory_order_relaxed);
  share.failed.store(0, std::memory_order_relaxed);
  share.next.store(std::uint64_t{receive.share.generation} << 32, std::memory_order_release);
  const wire::SharedCopyBody body{receive.peer_cookie,
                                  reinterpret_cast<std::uintptr_t>(receive.buffer.address),
                                  receive.length, descriptor, receive.share.generation};
  outbox_.send_control(*receive.peer, PacketKind::cts_shared, receive.key(), wire::bytes_of(body));
  receive.stage = Stage::sharing;
  receive.protocol = &protocol(ProtocolId::rndv_share);
  activate(receive);
  return true;
}

bool Device::can_rndv_copy(const Operation& receive, const Announced& message) noexcept {
  const bool has_address = message.address != 0 && (message.flags & wire::rts_open) == 0;
  return has_address && receive.way != LongCopy::stream && transports_.can_reach(*receive.peer);
}

bool Device::start_rndv_copy(Operation& receive, const Announced& /*message*/) noexcept {
  receive.stage = Stage::reading;
  receive.protocol = &protocol(ProtocolId::rndv_copy);
  activate(receive);
  // A message of a few pieces is read at once; the operation may be destroyed then.
  bool in_place = false;
  if (receive.length <= piece_bytes * pieces_per_step) step_rndv_copy(receive, in_place);
  return true;
}

bool Device::start_rndv_stream(Operation& receive, const Announced& /*message*/) noexcept {
  start_stream(receive);
  return true;
}

void Device::start_stream(Operation& receive) noexcept {
  ++stats_.counters().streamed;
  stats_.note(Event::Kind::streamed, {receive.key().context, receive.peer->id, receive.outcome.tag},
              receive.length);
  receive.stage = Stage::streaming;
  receive.protocol = &protocol(ProtocolId::rndv_stream);
  receive.moved = streamed_from(*receive.peer, receive);
  receive.own_cookie = cookies_.add(receive);
  const wire::StreamBody body{receive.peer_cookie, receive.own_cookie, receive.length};
  outbox_.send_control(*receive.peer, PacketKind::cts_stream, receive.key(), wire::bytes_of(body));
}

void Device::finish_rendezvous(Operation& receive) noexcept {
  note_way(receive);
  note_written_by_peer(receive.buffer, receive.length);
  const wire::CookieBody body{receive.peer_cookie};
  outbox_.send_control(*receive.peer, PacketKind::fin, receive.key(), wire::bytes_of(body));
  finish(receive);
}

void Device::note_way(const Operation& receive) noexcept {
  if (receive.way == LongCopy::automatic) return;
  const std::uint64_t ns = receive.peer->occupied.end(receive.started_ns, base::now_ns());
  if (receive.way_counts) copy_choice_.record(receive.way, receive.length, ns);
}

void Device::on_clear_to_share(Peer& peer, const wire::SharedCopyBody& request) noexcept {
  Operation* send = named(peer, request.send, true);
  if (send == nullptr) return;
  if (send->stage != Stage::announced || send->buffer.packer != nullptr ||
      request.length > send->buffer.bytes || request.descriptor >= wire::share_descriptors) {
    ++stats_.counters().malformed;
    return;
  }
  if (send->transfer != nullptr) close_memory(*send);
  heads_.note(send->buffer.bytes, false);
  heads_.end(send);
  send->stage = Stage::sharing;
  send->remote = request.address;
  send->length = request.length;
  send->share = {request.descriptor, request.generation};
  send->protocol = &protocol(ProtocolId::rndv_share);
  activate(*send);
}

void Device::on_clear_to_stream(Peer& peer, const wire::StreamBody& request) noexcept {
  Operation* send = named(peer, request.send, true);
  if (send == nullptr) return;
  if ((send->stage != Stage::announced && send->stage != Stage::sharing) ||
      request.length > send->buffer.bytes || request.length < streamed_from(peer, *send)) {
    ++stats_.counters().malformed;
    return;
  }
  if (send->stage == Stage::sharing) deactivate(*send);
  if (send->transfer != nullptr) close_memory(*send);
  if (peer.mapped()) heads_.note(send->buffer.bytes, true);
  heads_.end(send);
  send->stage = Stage::streaming;
  std::construct_at(&send->stream);
  send->protocol = &protocol(ProtocolId::rndv_stream);
  send->peer_cookie = request.receive;
  send->length = request.length;
  send->moved = streamed_from(peer, *send);
  activate(*send);
}

void Device::on_data(const Packet& packet) noexcept {
  const fabric::Body& body = packet.body;
  Peer& peer = peers_.connect(packet.peer);
  const auto data =
      handlers_.decode<wire::DataBody>(body.part(0, std::min(body.size(), sizeof(wire::DataBody))));
  Operation* receive = data ? named(peer, data->receive, false) : nullptr;
  if (receive == nullptr) return;
  const std::uint64_t bytes = body.size() - sizeof *data;
  // Through shared memory the packets of a message arrive in order; those of several rails may not.
  const bool in_turn = !peer.mapped() || data->offset == receive->moved;
  if (receive->stage != Stage::streaming || !in_turn || data->offset > receive->length ||
      bytes > receive->length - data->offset) {
    ++stats_.counters().malformed;
    return;
  }
  // Both ways, four buffers and two rings of this size do not fit into the shared cache; stores past
  // it leave it to the rings. One way, the receiver alone would be slower with them.
  const bool sends = active_ != nullptr && active_->is_send;
  const bool past_caches = peer.mapped() && sends && receive->length >= base::past_caches_bytes;
  copy_body(receive->buffer, data->offset, body, sizeof *data, bytes,
            past_caches ? base::StoreKind::non_temporal : base::StoreKind::cached);
  if (body.torn()) return;
  add_streamed(*receive, bytes);
}

/// Counts bytes that are in place, at any offset: networks may carry parts of a message in
/// parallel.
void Device::add_streamed(Operation& receive, std::uint64_t bytes) noexcept {
  receive.moved += std::min(bytes, receive.length - receive.moved);
  if (receive.moved < receive.length) return;
  if (receive.stage == Stage::arriving) {
    receive.peer->arriving = nullptr;
    return finish(receive);
  }
  note_way(receive);
  cookies_.remove(receive.own_cookie);
  receive.own_cookie = 0;
  finish(receive);
}

/// One step of the active transfers: of each direction to each peer the oldest, and the next only
/// where that one has nothing to do, so that buffers stay in the cache and measured times are
/// meaningful. A network that takes bytes from the user's memory is given the next as well when it
/// has all of one, so that they leave in one call. A completion may start, end or free other
/// transfers: `deactivate` advances `next_active_`.
unsigned Device::advance_active() noexcept {
  unsigned moved = 0;
  const Peer* busy[2] = {nullptr, nullptr};
  bool gathered = false;
  for (Operation* at = active_; at != nullptr; at = next_active_) {
    next_active_ = at->next_active;
    const Peer* peer = at->peer;
    const bool is_send = at->is_send;
    if (busy[is_send ? 1 : 0] != peer && !peer->failed) {
      const bool fills_way = is_send && at->stage == Stage::streaming;
      bool in_place = false;
      const unsigned step = advance(*at, in_place);
      if ((step != 0 || fills_way) && !in_place) busy[is_send ? 1 : 0] = peer;
      gathered = gathered || (fills_way && step != 0);
      moved += step;
    }
  }
  if (gathered) release_held();
  return moved;
}

/// Takes pieces from the descriptor and copies them. The receiver also checks whether all are
/// done.
unsigned Device::step_rndv_share(Operation& operation, bool& /*in_place*/) noexcept {
  if (!operation.peer->mapped()) return 0;
  const std::uint32_t owner =
      operation.is_send ? operation.peer->node_number : node()->shm().self();
  wire::ShareDescriptor& share = node()->channel().share(owner, operation.share.descriptor);
  const std::uint64_t pieces = piece_count(operation.length);
  unsigned moved = 0;
  while (moved < pieces_per_step) {
    std::uint64_t next = share.next.load(std::memory_order_acquire);
    if (next >> 32 != operation.share.generation || (next & 0xffffffff) >= pieces) break;
    if (!share.next.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) continue;
    const std::uint64_t offset = (next & 0xffffffff) * piece_bytes;
    const std::uint64_t bytes = std::min(piece_bytes, operation.length - offset);
    const bool copied = copy_piece(operation, offset, bytes).ok();
    (copied ? share.copied : share.failed).fetch_add(1, std::memory_order_acq_rel);
    ++moved;
  }
  if (operation.is_send) {
    if (moved < pieces_per_step) {  // none left: the sender waits for the receiver's fin
      deactivate(operation);
      node()->channel().nudge(*operation.peer->link);
    }
    return moved;
  }
  const std::uint64_t failed = share.failed.load(std::memory_order_acquire);
  if (share.copied.load(std::memory_order_acquire) + failed < pieces) return moved;
  deactivate(operation);
  shares_.give_back(operation.share.descriptor);
  if (failed == 0) {
    finish_rendezvous(operation);
  } else {
    start_stream(operation);
  }
  return moved + 1;
}

unsigned Device::step_rndv_copy(Operation& receive, bool& /*in_place*/) noexcept {
  unsigned moved = 0;
  while (moved < pieces_per_step && receive.moved < receive.length) {
    const std::uint64_t bytes = std::min(piece_bytes, receive.length - receive.moved);
    if (copy_piece(receive, receive.moved, bytes).failed()) {
      deactivate(receive);
      start_stream(receive);
      return moved + 1;
    }
    receive.moved += bytes;
    ++moved;
  }
  if (receive.moved == receive.length) {
    deactivate(receive);
    finish_rendezvous(receive);
  }
  return moved;
}

unsigned Device::step_rndv_stream(Operation& send, bool& in_place) noexcept {
  unsigned moved = 0;
  while (moved < pieces_per_step && send.moved < send.length) {
    const base::TraceSpan span(config_.trace, posting(PacketKind::data), send.peer->id);
    const bool takes_memory = !send.peer->mapped() && network()->sends_in_place();
    const Post post = takes_memory ? post_in_place(send) : post_part(send, stream_packet_bytes);
    if (post == Post::again) return moved;
    ++moved;
  }
  if (send.moved == send.length) {
    deactivate(send);
    in_place = send.stream.in_place != 0;
    if (!in_place) finish_send(send);
  }
  return moved;
}

void Device::abort_rndv_share(Operation& operation, base::ErrorClass error) noexcept {
  deactivate(operation);
  if (!operation.is_send) shares_.give_back(operation.share.descriptor);
  fail(operation, error);
}

void Device::abort_rndv_copy(Operation& operation, base::ErrorClass error) noexcept {
  deactivate(operation);
  fail(operation, error);
}

void Device::abort_rndv_stream(Operation& operation, base::ErrorClass error) noexcept {
  deactivate(operation);
  if (operation.is_send && operation.stream.in_place != 0) {
    operation.outcome.error = error;
    operation.moved = operation.length;  // part_sent ends it
    return;
  }
  fail(operation, error);
}

/// Posts the next part of a streaming send by way of a packet of at most `most_bytes`.
Post Device::post_part(Operation& send, std::size_t most_bytes) noexcept {
  const wire::DataBody head{send.peer_cookie, send.moved};
  const std::size_t limit =
      std::min(transports_.body_limit(*send.peer, most_bytes), most_bytes) - sizeof head;
  const std::uint64_t bytes = std::min<std::uint64_t>(limit, send.length - send.moved);
  const wire::Envelope envelope{PacketKind::data, 0, 0, 0,
                                static_cast<std::uint32_t>(sizeof head + bytes)};
  const Post post = transports_.put(*send.peer, envelope,
                                    BodyWriter(wire::bytes_of(head), send.buffer, send.moved));
  if (post == Post::done) send.moved += bytes;
  return post;
}

/// Moves one piece between this process and the peer.
base::Error Device::copy_piece(Operation& operation, std::uint64_t offset,
                               std::uint64_t bytes) noexcept {
  ++stats_.counters().single_copies;
  const base::TraceSpan span(config_.trace, "copy piece", operation.peer->id, bytes);
  const Buffer& buffer = operation.buffer;
  const Peer& peer = *operation.peer;
  if (buffer.packer == nullptr) {
    const iovec local{static_cast<std::byte*>(buffer.address) + offset, bytes};
    const std::uint64_t remote = operation.remote + offset;
    return operation.is_send ? transports_.write(peer, {&local, 1}, remote, bytes)
                             : transports_.read(peer, {&local, 1}, remote, bytes);
  }
  std::array<iovec, most_segments> local;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t count =
        buffer.packer->segments(buffer.address, offset + done, bytes - done, local);
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) covered += local[i].iov_len;
    if (covered == 0) return base::Error(base::ErrorClass::intern);
    const base::Error error =
        transports_.read(peer, {local.data(), count}, operation.remote + offset + done, covered);
    if (error.failed()) return error;
    done += covered;
  }
  return {};
}

void Device::activate(Operation& operation) noexcept {
  operation.next_active = nullptr;
  Operation** end = &active_;
  while (*end != nullptr) end = &(*end)->next_active;
  *end = &operation;
  wake_service();
}

void Device::deactivate(const Operation& operation) noexcept {
  if (next_active_ == &operation) next_active_ = operation.next_active;
  for (Operation** at = &active_; *at != nullptr; at = &(*at)->next_active) {
    if (*at == &operation) {
      *at = operation.next_active;
      return;
    }
  }
}

}  // namespace fulmar::device
