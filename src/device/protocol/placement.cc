// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/placement.h"

#include <algorithm>

/// Packets of a stream that a network takes from the sender's memory (RndvStream::post_in_place). On the receiving side the
/// network asks where the bytes of each go, and puts them there itself. The prefix is not trusted: it is
/// accepted only if it names a receive of this process from that peer, and a part of its message.
///
/// A short message of which only the front has arrived is treated the same way, if its receive is
/// posted: it is matched at that moment, in order, and the rest is read directly into the receive
/// buffer. It has no prefix; the peer's record says which receive it is, as at most one packet of a
/// peer arrives like this. Bytes beyond the receive buffer are read and dropped.
namespace fulmar::device {

Placement::Target Placement::target_of(std::uint32_t peer_id, const wire::Envelope& envelope,
                                       std::span<const std::byte> prefix, std::uint64_t offset,
                                       std::uint64_t bytes) noexcept {
  if (prefix.empty()) {
    Operation* const receive = parts_.peers.connect(peer_id).arriving;
    if (receive == nullptr || offset >= receive->length) return {};
    return {receive, offset, std::min(bytes, receive->length - offset)};
  }
  const auto data = parts_.handlers.decode<wire::DataBody>(prefix);
  if (!data || envelope.kind != wire::PacketKind::data) return {};
  Operation* receive = parts_.operations.named(parts_.peers.connect(peer_id), data->receive, false);
  if (receive == nullptr) return {};
  if (receive->stage != Stage::streaming || data->offset > receive->length ||
      offset > receive->length - data->offset || bytes > receive->length - data->offset - offset) {
    ++parts_.stats.counters().malformed;
    return {};
  }
  return {receive, data->offset + offset, bytes};
}

bool Placement::expect(std::uint32_t peer_id, const wire::Envelope& envelope) noexcept {
  if (envelope.kind != wire::PacketKind::eager) return false;
  Peer& peer = parts_.peers.connect(peer_id);
  if (peer.arriving != nullptr) return false;  // over another network
  const match::Key key{envelope.context, peer_id, envelope.tag};
  match::Posted* const posted = parts_.matcher.take_posted(key);
  if (posted == nullptr) return false;
  Operation& receive = *operation_of(posted);
  settle_length(receive, key, envelope.length);
  receive.peer = &peer;
  receive.moved = 0;
  receive.stage = Stage::arriving;
  if (receive.length == 0) {
    parts_.operations.finish(receive);
  } else {
    peer.arriving = &receive;
  }
  return true;
}

std::span<const iovec> Placement::place(std::uint32_t peer, const wire::Envelope& envelope,
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
  if (covered < count * RndvStream::smallest_piece_bytes) return {};
  return std::span(pieces_).first(count);
}

void Placement::placed(std::uint32_t peer, const wire::Envelope& envelope,
                       std::span<const std::byte> prefix, std::uint64_t offset,
                       std::uint64_t bytes) noexcept {
  const Target target = target_of(peer, envelope, prefix, offset, bytes);
  if (target.receive != nullptr) parts_.stream.add(*target.receive, target.bytes);
}

void Placement::part(std::uint32_t peer, const wire::Envelope& envelope,
                     std::span<const std::byte> prefix, std::uint64_t offset,
                     std::span<const std::byte> payload) noexcept {
  const Target target = target_of(peer, envelope, prefix, offset, payload.size());
  if (target.receive == nullptr) return;
  write_buffer(target.receive->buffer, target.offset, payload.first(target.bytes));
  parts_.stream.add(*target.receive, target.bytes);
}

}  // namespace fulmar::device
