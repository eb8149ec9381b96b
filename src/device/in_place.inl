// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>

#include "device/device.h"

namespace fulmar::device {

/// Posts the next part of a streaming send on a network that takes it from where it lies. Data that
/// are not one run go as pieces; those of a few bytes each are cheaper to copy than to describe.
template <class Channel, class Link>
fabric::Post Device::post_in_place(Channel& channel, Link& link, Operation& send) noexcept {
  auto& provider = channel.provider();
  using Provider = std::remove_cvref_t<decltype(provider)>;
  const wire::DataBody head{send.peer_cookie, send.moved};
  std::uint64_t limit = Provider::max_in_place_bytes;
  if constexpr (requires { provider.in_place_limit(link.peer); }) {
    limit = provider.in_place_limit(link.peer);
  }
  std::uint64_t bytes = std::min<std::uint64_t>(limit - sizeof head, send.length - send.moved);
  std::array<iovec, Provider::max_pieces> pieces;
  std::size_t count = 1;
  if (send.buffer.packer == nullptr) {
    pieces[0] = {static_cast<std::byte*>(send.buffer.address) + send.moved, bytes};
  } else {
    count = send.buffer.packer->segments(send.buffer.address, send.moved, bytes, pieces);
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < count; ++i) covered += pieces[i].iov_len;
    if (covered < count * smallest_piece_bytes) count = 0;
    bytes = covered;
  }
  wire::Envelope envelope{wire::PacketKind::data, 0, 0, 0,
                          static_cast<std::uint32_t>(sizeof head + bytes)};
  fabric::Post post;
  if (count != 0) {
    post = provider.post_in_place(link.peer, envelope, wire::bytes_of(head),
                                  std::span(pieces).first(count), send.own_cookie);
    if (post == fabric::Post::done) ++send.in_place;
  } else {
    limit = channel.body_limit(link, Provider::max_body_bytes);
    bytes = std::min<std::uint64_t>(limit - sizeof head, send.length - send.moved);
    envelope.length = static_cast<std::uint32_t>(sizeof head + bytes);
    post = channel.put(link, envelope, BodyWriter(wire::bytes_of(head), send.buffer, send.moved));
  }
  if (post == fabric::Post::done) send.moved += bytes;
  return post;
}

}  // namespace fulmar::device
