// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/clock.h"
#include "channel/mapped_channel.inl"
#include "device/device.h"
#include "device/in_place.inl"
#include "device/trace.h"

/// Long messages. The sender announces address and length (`rts`); once the receive is known the
/// receiver chooses how the bytes come:
///
/// * share: sender and receiver copy together. The receiver names a descriptor in its memory from
///   which both take the next piece until none is left, and each moves its pieces by a single copy
///   between the two address spaces, the receiver reading, the sender writing. Two cores copy twice
///   as fast as one. A sender that is busy elsewhere takes no pieces, and the receiver does not wait
///   for it.
/// * read: the receiver reads everything; for what is too short to share.
/// * stream: the sender copies pieces into the ring and the receiver out of it, both at once. This
///   always works. It is used for data that are not one run at the sender, and is what the others
///   fall back to, also in the middle of a message, when the kernel refuses a copy. Networks take
///   the bytes from the sender's memory and put them into the receiver's; see device/in_place.inl.
/// * fetch, put: adapters read or write the peer's memory; see device/remote.cc.
///
/// One handshake in each case: rts, and `fin` when the receiver has all (stream needs none).
/// The bytes move inside progress, a bounded amount with each look, so that a test call returns
/// soon.
namespace fulmar::device {

using fabric::Post;
using wire::PacketKind;

namespace {

constexpr std::uint64_t piece_bytes = 64U << 10;
/// How many pieces one look at progress moves of one transfer.
constexpr unsigned pieces_per_step = 4;
constexpr std::size_t most_segments = 256;
/// Bytes of one packet of a stream.
constexpr std::size_t stream_packet_bytes = 128U << 10;

template <class Channel>
inline constexpr bool maps_peers = requires(Channel& channel) { channel.share(0U, 0U); };
template <class Channel>
inline constexpr bool reaches_memory = requires(Channel& channel) { channel.provider().reach(0U); };

std::uint64_t piece_count(std::uint64_t length) noexcept {
  return (length + piece_bytes - 1) / piece_bytes;
}

}  // namespace

void Device::start_rendezvous(Operation& receive, Peer& peer, const Announced& message) noexcept {
  const std::uint64_t address = message.address;
  receive.peer = &peer;
  receive.peer_cookie = message.send;
  receive.remote = address;
  receive.moved = 0;
  receive.inlined = message.inlined;
  receive.way = LongCopy::automatic;
  if (receive.length <= message.inlined) return finish_rendezvous(receive);
  if ((message.flags & (wire::rts_open | wire::rts_puts)) != 0 && start_remote(receive, message)) {
    return;
  }
  if (address != 0 && could_share(receive)) {
    const CopyChoice::Pick pick = copy_choice_.pick(receive.length);
    receive.way = pick.way;
    receive.way_counts = pick.counts;
    receive.started_ns = base::now_ns();
    if (receive.way == LongCopy::stream) return start_stream(receive);
    if (try_share(receive)) return;
    receive.way_counts = false;  // too many are under way: another way, about which nobody asked
  }
  if (address != 0 && try_read(receive)) return;
  start_stream(receive);
}

/// Whether both sides could copy this message together: the case in which there is a choice.
bool Device::could_share(const Operation& receive) noexcept {
  if (receive.length < config_.share_bytes || receive.buffer.packer != nullptr) return false;
  return rails_.visit(receive.peer->rail, [&](auto& channel, auto&) {
    using Channel = std::remove_cvref_t<decltype(channel)>;
    if constexpr (maps_peers<Channel> && reaches_memory<Channel>) {
      return channel.provider().reach(receive.peer->rail.number);
    } else {
      return false;
    }
  });
}

bool Device::try_share(Operation& receive) noexcept {
  const bool ready = rails_.visit(receive.peer->rail, [&](auto& channel, auto&) {
    using Channel = std::remove_cvref_t<decltype(channel)>;
    if constexpr (maps_peers<Channel> && reaches_memory<Channel>) {
      receive.record = shares_.take();
      if (receive.record == SharePool::none) return false;
      receive.share_generation = shares_.generation(receive.record);
      wire::ShareDescriptor& share = channel.share(channel.provider().self(), receive.record);
      share.copied.store(0, std::memory_order_relaxed);
      share.failed.store(0, std::memory_order_relaxed);
      share.next.store(std::uint64_t{receive.share_generation} << 32, std::memory_order_release);
      return true;
    } else {
      return false;
    }
  });
  if (!ready) return false;
  const wire::SharedCopyBody body{receive.peer_cookie,
                                  reinterpret_cast<std::uintptr_t>(receive.buffer.address),
                                  receive.length, receive.record, receive.share_generation};
  send_control(*receive.peer, PacketKind::cts_shared, receive.key(), wire::bytes_of(body));
  receive.stage = Stage::sharing;
  activate(receive);
  return true;
}

bool Device::try_read(Operation& receive) noexcept {
  const bool ready = rails_.visit(receive.peer->rail, [&](auto& channel, auto&) {
    if constexpr (reaches_memory<std::remove_cvref_t<decltype(channel)>>) {
      return channel.provider().reach(receive.peer->rail.number);
    } else {
      return false;
    }
  });
  if (!ready) return false;
  receive.stage = Stage::reading;
  activate(receive);
  // A message of a few pieces is read on the spot; the operation may be gone then.
  if (receive.length <= piece_bytes * pieces_per_step) advance_read(receive);
  return true;
}

void Device::start_stream(Operation& receive) noexcept {
  ++counters_.streamed;
  note(Happening::Kind::streamed, {receive.key().context, receive.peer->id, receive.outcome.tag},
       receive.length);
  receive.stage = Stage::streaming;
  receive.moved = 0;
  receive.own_cookie = cookies_.add(receive);
  const wire::StreamBody body{receive.peer_cookie, receive.own_cookie, receive.length};
  send_control(*receive.peer, PacketKind::cts_stream, receive.key(), wire::bytes_of(body));
}

void Device::finish_rendezvous(Operation& receive) noexcept {
  note_way(receive);
  note_written_by_peer(receive.buffer, receive.length);
  const wire::CookieBody body{receive.peer_cookie};
  send_control(*receive.peer, PacketKind::fin, receive.key(), wire::bytes_of(body));
  finish(receive);
}

void Device::note_way(const Operation& receive) noexcept {
  if (receive.way == LongCopy::automatic) return;
  const std::uint64_t ns = receive.peer->occupied.end(receive.started_ns, base::now_ns());
  if (receive.way_counts) copy_choice_.record(receive.way, receive.length, ns);
}

void Device::on_clear_to_share(Peer& peer, std::span<const std::byte> body) noexcept {
  const auto request = decoded<wire::SharedCopyBody>(body);
  Operation* send = request ? named(peer, request->send, true) : nullptr;
  if (send == nullptr) return;
  if (send->stage != Stage::announced || send->buffer.packer != nullptr ||
      request->length > send->buffer.bytes || request->descriptor >= wire::share_descriptors) {
    ++counters_.malformed;
    return;
  }
  if (send->has_transfer) close_memory(*send);
  send->stage = Stage::sharing;
  send->remote = request->address;
  send->length = request->length;
  send->record = request->descriptor;
  send->share_generation = request->generation;
  activate(*send);
}

void Device::on_clear_to_stream(Peer& peer, std::span<const std::byte> body) noexcept {
  const auto request = decoded<wire::StreamBody>(body);
  Operation* send = request ? named(peer, request->send, true) : nullptr;
  if (send == nullptr) return;
  if ((send->stage != Stage::announced && send->stage != Stage::sharing) ||
      request->length > send->buffer.bytes) {
    ++counters_.malformed;
    return;
  }
  if (send->stage == Stage::sharing) deactivate(*send);
  if (send->has_transfer) close_memory(*send);
  send->stage = Stage::streaming;
  send->peer_cookie = request->receive;
  send->length = request->length;
  send->moved = 0;
  activate(*send);
}

void Device::on_data(Peer& peer, const fabric::Body& body) noexcept {
  const auto data =
      decoded<wire::DataBody>(body.part(0, std::min(body.size(), sizeof(wire::DataBody))));
  Operation* receive = data ? named(peer, data->receive, false) : nullptr;
  if (receive == nullptr) return;
  const std::uint64_t bytes = body.size() - sizeof *data;
  // Through shared memory the packets of a message come in order; lanes of a network overtake.
  const bool in_turn = !peer.mapped || data->offset == receive->moved;
  if (receive->stage != Stage::streaming || !in_turn || data->offset > receive->length ||
      bytes > receive->length - data->offset) {
    ++counters_.malformed;
    return;
  }
  copy_body(receive->buffer, data->offset, body, sizeof *data, bytes);
  add_streamed(*receive, bytes);
}

/// So many more bytes are in place, wherever: networks may carry parts of a message side by side.
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

/// One step of the transfers under way: of each direction to each peer the oldest, and the next
/// only where that one has nothing to do, so that buffers stay in the cache and times mean
/// something. A network that takes bytes from where they lie is given the next as well when it has
/// all of one, so that they leave in one call. What completes may start, end or free other
/// transfers: the next one is kept where `deactivate` moves it on.
unsigned Device::advance_active() noexcept {
  unsigned moved = 0;
  const Peer* busy[2] = {nullptr, nullptr};
  bool gathered = false;
  for (Operation* at = active_; at != nullptr; at = next_active_) {
    next_active_ = at->next_active;
    const Peer* peer = at->peer;
    const bool is_send = at->is_send;
    if (busy[is_send ? 1 : 0] != peer) {
      const bool fills_way = is_send && at->stage == Stage::streaming;
      bool lies_there = false;
      const unsigned step = advance(*at, lies_there);
      if ((step != 0 || fills_way) && !lies_there) busy[is_send ? 1 : 0] = peer;
      gathered = gathered || (fills_way && step != 0);
      moved += step;
    }
  }
  if (gathered) flush_networks();
  return moved;
}

/// `lies_there`: a network has all of this send in place.
unsigned Device::advance(Operation& operation, bool& lies_there) noexcept {
  switch (operation.stage) {
    case Stage::sharing:
      return advance_share(operation);
    case Stage::reading:
      return advance_read(operation);
    case Stage::fetching:
      return give_orders(operation);
    case Stage::putting:
      return operation.is_send ? give_orders(operation) : 0;
    case Stage::streaming:
      return operation.is_send ? advance_stream(operation, lies_there) : 0;
    default:
      return 0;
  }
}

/// Takes pieces from the descriptor and copies them. The receiver's side also sees when all are
/// done.
unsigned Device::advance_share(Operation& operation) noexcept {
  wire::ShareDescriptor* share = nullptr;
  rails_.visit(operation.peer->rail, [&](auto& channel, auto&) {
    if constexpr (maps_peers<std::remove_cvref_t<decltype(channel)>>) {
      share = &channel.share(
          operation.is_send ? operation.peer->rail.number : channel.provider().self(),
          operation.record);
    }
  });
  if (share == nullptr) return 0;
  const std::uint64_t pieces = piece_count(operation.length);
  unsigned moved = 0;
  while (moved < pieces_per_step) {
    std::uint64_t next = share->next.load(std::memory_order_acquire);
    if (next >> 32 != operation.share_generation || (next & 0xffffffff) >= pieces) break;
    if (!share->next.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) continue;
    const std::uint64_t offset = (next & 0xffffffff) * piece_bytes;
    const std::uint64_t bytes = std::min(piece_bytes, operation.length - offset);
    const bool copied = copy_piece(operation, offset, bytes).ok();
    (copied ? share->copied : share->failed).fetch_add(1, std::memory_order_acq_rel);
    ++moved;
  }
  if (operation.is_send) {
    if (moved < pieces_per_step) {  // none left: what remains is the receiver's answer
      deactivate(operation);
      rails_.visit(operation.peer->rail, [&](auto& channel, auto& link) {
        if constexpr (maps_peers<std::remove_cvref_t<decltype(channel)>>) channel.nudge(link);
      });
    }
    return moved;
  }
  const std::uint64_t failed = share->failed.load(std::memory_order_acquire);
  if (share->copied.load(std::memory_order_acquire) + failed < pieces) return moved;
  deactivate(operation);
  shares_.give_back(operation.record);
  if (failed == 0) {
    finish_rendezvous(operation);
  } else {
    start_stream(operation);
  }
  return moved + 1;
}

unsigned Device::advance_read(Operation& receive) noexcept {
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

unsigned Device::advance_stream(Operation& send, bool& lies_there) noexcept {
  unsigned moved = 0;
  while (moved < pieces_per_step && send.moved < send.length) {
    const base::TraceSpan span(config_.trace, posting(PacketKind::data), send.peer->id);
    const Post post = rails_.visit(send.peer->rail, [&](auto& channel, auto& link) {
      if constexpr (sends_in_place<std::remove_cvref_t<decltype(channel)>>) {
        return post_in_place(channel, link, send);
      }
      const std::size_t limit = std::min<std::size_t>(channel.body_limit(link, stream_packet_bytes),
                                                      stream_packet_bytes) -
                                sizeof(wire::DataBody);
      const std::uint64_t bytes = std::min<std::uint64_t>(limit, send.length - send.moved);
      const wire::DataBody head{send.peer_cookie, send.moved};
      const wire::Envelope envelope{PacketKind::data, 0, 0, 0,
                                    static_cast<std::uint32_t>(sizeof head + bytes)};
      const Post put =
          channel.put(link, envelope, BodyWriter(wire::bytes_of(head), send.buffer, send.moved));
      if (put == Post::done) send.moved += bytes;
      return put;
    });
    if (post == Post::again) return moved;
    ++moved;
  }
  if (send.moved == send.length) {
    deactivate(send);
    lies_there = send.in_place != 0;
    if (!lies_there) finish_send(send);
  }
  return moved;
}

/// Moves one piece between this process and the peer: a receive reads, a send writes.
base::Error Device::copy_piece(Operation& operation, std::uint64_t offset,
                               std::uint64_t bytes) noexcept {
  ++counters_.single_copies;
  const base::TraceSpan span(config_.trace, "copy piece", operation.peer->id, bytes);
  return rails_.visit(operation.peer->rail, [&](auto& channel, auto&) -> base::Error {
    if constexpr (reaches_memory<std::remove_cvref_t<decltype(channel)>>) {
      auto& provider = channel.provider();
      const Buffer& buffer = operation.buffer;
      if (buffer.packer == nullptr) {
        const iovec local{static_cast<std::byte*>(buffer.address) + offset, bytes};
        return operation.is_send ? provider.write(operation.peer->rail.number, {&local, 1},
                                                  operation.remote + offset, bytes)
                                 : provider.read(operation.peer->rail.number, {&local, 1},
                                                 operation.remote + offset, bytes);
      }
      std::array<iovec, most_segments> local;
      for (std::uint64_t done = 0; done < bytes;) {
        const std::size_t count =
            buffer.packer->segments(buffer.address, offset + done, bytes - done, local);
        std::uint64_t covered = 0;
        for (std::size_t i = 0; i < count; ++i) covered += local[i].iov_len;
        if (covered == 0) return base::Error(base::ErrorClass::intern);
        const base::Error error = provider.read(operation.peer->rail.number, {local.data(), count},
                                                operation.remote + offset + done, covered);
        if (error.failed()) return error;
        done += covered;
      }
      return {};
    } else {
      return base::Error(base::ErrorClass::intern);
    }
  });
}

void Device::activate(Operation& operation) noexcept {
  operation.next_active = nullptr;
  Operation** end = &active_;
  while (*end != nullptr) end = &(*end)->next_active;
  *end = &operation;
  stir();
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
