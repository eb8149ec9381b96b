// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <array>

#include "device/device.h"

/// Packets that a network takes from the sender's memory. On the receiving side the network asks
/// where the bytes of each go, and puts them there itself. The prefix is not trusted: it is
/// accepted only if it names a receive of this process from that peer, and a part of its message.
///
/// A short message of which only the front has arrived is treated the same way, if its receive is
/// posted: it is matched at that moment, in order, and the rest is read directly into the receive
/// buffer. It has no prefix; the peer's record says which receive it is, as at most one packet of a
/// peer arrives like this. Bytes beyond the receive buffer are read and dropped.
namespace fulmar::device {

/// Posts the next part of a streaming send on a network that takes it from the user's memory. Data
/// that are not one run go as an iovec; pieces of a few bytes each are cheaper to copy than to
/// describe.
fabric::Post Device::post_in_place(Operation& send) noexcept {
  const std::uint32_t peer = send.peer->id;
  const wire::DataBody head{send.peer_cookie, send.moved};
  const std::size_t limit = network()->in_place_limit(peer) - sizeof head;
  std::uint64_t bytes = std::min<std::uint64_t>(limit, send.length - send.moved);
  std::array<iovec, most_pieces> pieces;
  std::size_t count = 1;
  if (send.buffer.packer == nullptr) {
    pieces[0] = {static_cast<std::byte*>(send.buffer.address) + send.moved, bytes};
  } else {
    const std::size_t most = std::min(pieces.size(), network()->attributes().pieces);
    count = send.buffer.packer->segments(send.buffer.address, send.moved, bytes,
                                         std::span(pieces).first(most));
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) covered += pieces[i].iov_len;
    if (covered < count * smallest_piece_bytes) count = 0;
    bytes = covered;
  }
  if (count == 0) return post_part(send, network()->attributes().body_bytes);
  const wire::Envelope envelope{wire::PacketKind::data, 0, 0, 0,
                                static_cast<std::uint32_t>(sizeof head + bytes)};
  if (send.stream.token == 0) {
    send.stream.ended = [](Completion& completion, fabric::Sent how) noexcept {
      const auto& stream = static_cast<StreamState&>(completion);
      stream.device->part_sent(*stream.send, how);
    };
    send.stream.device = this;
    send.stream.send = &send;
    send.stream.token = completions_.add(send.stream);
  }
  const fabric::Post post = network()->post_in_place(
      peer, envelope, wire::bytes_of(head), std::span(pieces).first(count), send.stream.token);
  if (post == fabric::Post::done) {
    ++send.stream.in_place;
    send.moved += bytes;
  }
  return post;
}

/// The part of a message that a packet carries.
struct Device::Target {
  Operation* receive = nullptr;
  std::uint64_t offset = 0;  ///< in the message
  std::uint64_t bytes = 0;   ///< that it takes
};

Device::Target Device::target_of(std::uint32_t peer_id, const wire::Envelope& envelope,
                                 std::span<const std::byte> prefix, std::uint64_t offset,
                                 std::uint64_t bytes) noexcept {
  if (prefix.empty()) {
    Operation* const receive = peers_.connect(peer_id).arriving;
    if (receive == nullptr || offset >= receive->length) return {};
    return {receive, offset, std::min(bytes, receive->length - offset)};
  }
  const auto data = handlers_.decode<wire::DataBody>(prefix);
  if (!data || envelope.kind != wire::PacketKind::data) return {};
  Operation* receive = named(peers_.connect(peer_id), data->receive, false);
  if (receive == nullptr) return {};
  if (receive->stage != Stage::streaming || data->offset > receive->length ||
      offset > receive->length - data->offset || bytes > receive->length - data->offset - offset) {
    ++stats_.counters().malformed;
    return {};
  }
  return {receive, data->offset + offset, bytes};
}

bool Device::expect(std::uint32_t peer_id, const wire::Envelope& envelope) noexcept {
  if (envelope.kind != wire::PacketKind::eager) return false;
  Peer& peer = peers_.connect(peer_id);
  if (peer.arriving != nullptr) return false;  // over another network
  const match::Key key{envelope.context, peer_id, envelope.tag};
  match::Posted* const posted = matcher_.take_posted(key);
  if (posted == nullptr) return false;
  Operation& receive = *operation_of(posted);
  settle_length(receive, key, envelope.length);
  receive.peer = &peer;
  receive.moved = 0;
  receive.stage = Stage::arriving;
  if (receive.length == 0) {
    finish(receive);
  } else {
    peer.arriving = &receive;
  }
  return true;
}

std::span<const iovec> Device::place(std::uint32_t peer, const wire::Envelope& envelope,
                                     std::span<const std::byte> prefix, std::uint64_t offset,
                                     std::uint64_t bytes) noexcept {
  const Target target = target_of(peer, envelope, prefix, offset, bytes);
  if (target.receive == nullptr) return {};
  const Buffer& buffer = target.receive->buffer;
  if (buffer.packer == nullptr) {
    pieces_[0] = {static_cast<std::byte*>(buffer.address) + target.offset, target.bytes};
    return std::span(pieces_).first(1);
  }
  const std::size_t count =
      buffer.packer->segments(buffer.address, target.offset, target.bytes, pieces_);
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < count; ++i) covered += pieces_[i].iov_len;
  if (covered < count * smallest_piece_bytes) return {};
  return std::span(pieces_).first(count);
}

void Device::placed(std::uint32_t peer, const wire::Envelope& envelope,
                    std::span<const std::byte> prefix, std::uint64_t offset,
                    std::uint64_t bytes) noexcept {
  const Target target = target_of(peer, envelope, prefix, offset, bytes);
  if (target.receive != nullptr) add_streamed(*target.receive, target.bytes);
}

void Device::part(std::uint32_t peer, const wire::Envelope& envelope,
                  std::span<const std::byte> prefix, std::uint64_t offset,
                  std::span<const std::byte> payload) noexcept {
  const Target target = target_of(peer, envelope, prefix, offset, payload.size());
  if (target.receive == nullptr) return;
  write_buffer(target.receive->buffer, target.offset, payload.first(target.bytes));
  add_streamed(*target.receive, target.bytes);
}

/// The network is done with the memory of one packet. If the peer is lost, the send ends with an
/// error.
void Device::part_sent(Operation& send, fabric::Sent how) noexcept {
  if (send.stream.in_place == 0) return;
  --send.stream.in_place;
  if (how == fabric::Sent::lost) send.outcome.error = base::ErrorClass::proc_failed;
  if (send.stream.in_place == 0 && send.moved == send.length) finish_send(send);
}

}  // namespace fulmar::device
