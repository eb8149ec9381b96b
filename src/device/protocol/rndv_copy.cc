// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/rndv_copy.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/clock.h"
#include "device/matching/arrival.h"
#include "device/protocol/protocol.h"

namespace fulmar::device {

using wire::PacketKind;

namespace {

constexpr std::uint64_t piece_bytes = 64U << 10;
/// How many pieces one progress call moves of one transfer.
constexpr unsigned pieces_per_step = 4;
constexpr std::size_t most_segments = 256;

std::uint64_t piece_count(std::uint64_t length) noexcept {
  return (length + piece_bytes - 1) / piece_bytes;
}

}  // namespace

/// Whether both sides could copy this message together: the case in which there is a choice.
bool RndvCopy::could_share(const Operation& receive) noexcept {
  if (receive.remote == 0 || receive.length < parts_.config.share_bytes) return false;
  if (receive.buffer.packer != nullptr) return false;
  return receive.peer->mapped() && parts_.transports.can_reach(*receive.peer);
}

void RndvCopy::choose(Operation& receive) noexcept {
  receive.way = LongCopy::automatic;
  if (!could_share(receive)) return;
  const CopyChoice::Pick pick = parts_.copy_choice.pick(receive.length);
  receive.way = pick.way;
  receive.way_counts = pick.counts;
  receive.started_ns = base::now_ns();
}

bool RndvCopy::can_share(const Operation& receive, const Announced& /*message*/) noexcept {
  return receive.way == LongCopy::share;
}

bool RndvCopy::start_share(Operation& receive, const Announced& /*message*/) noexcept {
  const std::uint32_t descriptor = shares_.take();
  if (descriptor == SharePool::none) {
    receive.way_counts = false;  // too many are in flight: another protocol, which is not timed
    return false;
  }
  receive.share = {descriptor, shares_.generation(descriptor)};
  wire::ShareDescriptor& share =
      parts_.transports.node()->channel().share(parts_.transports.node()->shm().self(), descriptor);
  share.copied.store(0, std::memory_order_relaxed);
  share.failed.store(0, std::memory_order_relaxed);
  share.next.store(std::uint64_t{receive.share.generation} << 32, std::memory_order_release);
  const wire::SharedCopyBody body{receive.peer_cookie,
                                  reinterpret_cast<std::uintptr_t>(receive.buffer.address),
                                  receive.length, descriptor, receive.share.generation};
  parts_.outbox.send_control(*receive.peer, PacketKind::cts_shared, receive.key(),
                             wire::bytes_of(body));
  receive.stage = Stage::sharing;
  receive.protocol = &protocol(ProtocolId::rndv_share);
  parts_.active.add(receive);
  return true;
}

bool RndvCopy::can_read(const Operation& receive, const Announced& message) noexcept {
  const bool has_address = message.address != 0 && (message.flags & wire::rts_open) == 0;
  return has_address && receive.way != LongCopy::stream &&
         parts_.transports.can_reach(*receive.peer);
}

bool RndvCopy::start_read(Operation& receive, const Announced& /*message*/) noexcept {
  receive.stage = Stage::reading;
  receive.protocol = &protocol(ProtocolId::rndv_copy);
  parts_.active.add(receive);
  // A message of a few pieces is read at once; the operation may be destroyed then.
  bool in_place = false;
  if (receive.length <= piece_bytes * pieces_per_step) step_read(receive, in_place);
  return true;
}

void RndvCopy::finish(Operation& receive) noexcept {
  note_way(parts_.copy_choice, receive);
  note_written_by_peer(receive.buffer, receive.length);
  const wire::CookieBody body{receive.peer_cookie};
  parts_.outbox.send_control(*receive.peer, PacketKind::fin, receive.key(), wire::bytes_of(body));
  parts_.operations.finish(receive);
}

void RndvCopy::on_clear_to_share(Peer& peer, const wire::SharedCopyBody& request) noexcept {
  Operation* send = parts_.operations.named(peer, request.send, true);
  if (send == nullptr) return;
  if (send->stage != Stage::announced || send->buffer.packer != nullptr ||
      request.length > send->buffer.bytes || request.descriptor >= wire::share_descriptors) {
    ++parts_.stats.counters().malformed;
    return;
  }
  if (send->transfer != nullptr) parts_.memory.close(*send);
  parts_.heads.note(send->buffer.bytes, false);
  parts_.heads.end(send);
  send->stage = Stage::sharing;
  send->remote = request.address;
  send->length = request.length;
  send->share = {request.descriptor, request.generation};
  send->protocol = &protocol(ProtocolId::rndv_share);
  parts_.active.add(*send);
}

/// Takes pieces from the descriptor and copies them. The receiver also checks whether all are
/// done.
unsigned RndvCopy::step_share(Operation& operation, bool& /*in_place*/) noexcept {
  if (!operation.peer->mapped()) return 0;
  const std::uint32_t owner =
      operation.is_send ? operation.peer->node_number : parts_.transports.node()->shm().self();
  wire::ShareDescriptor& share =
      parts_.transports.node()->channel().share(owner, operation.share.descriptor);
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
      parts_.active.remove(operation);
      parts_.transports.node()->channel().nudge(*operation.peer->link);
    }
    return moved;
  }
  const std::uint64_t failed = share.failed.load(std::memory_order_acquire);
  if (share.copied.load(std::memory_order_acquire) + failed < pieces) return moved;
  parts_.active.remove(operation);
  shares_.give_back(operation.share.descriptor);
  if (failed == 0) {
    finish(operation);
  } else {
    parts_.stream.start(operation);
  }
  return moved + 1;
}

unsigned RndvCopy::step_read(Operation& receive, bool& /*in_place*/) noexcept {
  unsigned moved = 0;
  while (moved < pieces_per_step && receive.moved < receive.length) {
    const std::uint64_t bytes = std::min(piece_bytes, receive.length - receive.moved);
    if (copy_piece(receive, receive.moved, bytes).failed()) {
      parts_.active.remove(receive);
      parts_.stream.start(receive);
      return moved + 1;
    }
    receive.moved += bytes;
    ++moved;
  }
  if (receive.moved == receive.length) {
    parts_.active.remove(receive);
    finish(receive);
  }
  return moved;
}

void RndvCopy::abort_share(Operation& operation, base::ErrorClass error) noexcept {
  parts_.active.remove(operation);
  if (!operation.is_send) shares_.give_back(operation.share.descriptor);
  parts_.operations.fail(operation, error);
}

void RndvCopy::abort_read(Operation& operation, base::ErrorClass error) noexcept {
  parts_.active.remove(operation);
  parts_.operations.fail(operation, error);
}

/// Moves one piece between this process and the peer.
base::Error RndvCopy::copy_piece(Operation& operation, std::uint64_t offset,
                                 std::uint64_t bytes) noexcept {
  ++parts_.stats.counters().single_copies;
  const base::TraceSpan span(parts_.config.trace, "copy piece", operation.peer->id, bytes);
  const Buffer& buffer = operation.buffer;
  const Peer& peer = *operation.peer;
  if (buffer.packer == nullptr) {
    const iovec local{static_cast<std::byte*>(buffer.address) + offset, bytes};
    const std::uint64_t remote = operation.remote + offset;
    return operation.is_send ? parts_.transports.write(peer, {&local, 1}, remote, bytes)
                             : parts_.transports.read(peer, {&local, 1}, remote, bytes);
  }
  std::array<iovec, most_segments> local;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t count =
        buffer.packer->segments(buffer.address, offset + done, bytes - done, local);
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) covered += local[i].iov_len;
    if (covered == 0) return base::Error(base::ErrorClass::intern);
    const base::Error error = parts_.transports.read(peer, {local.data(), count},
                                                     operation.remote + offset + done, covered);
    if (error.failed()) return error;
    done += covered;
  }
  return {};
}

}  // namespace fulmar::device
