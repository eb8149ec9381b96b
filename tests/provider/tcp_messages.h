// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "provider/tcp_net.h"

/// Long messages in the tests of placing.
namespace fulmar::fabric {

/// What the prefix of these tests says: which message, and where in it.
struct Prefix {
  std::uint64_t message;
  std::uint64_t offset;
};

/// A receiver of messages: knows where the bytes of each belong.
struct PlacingSink {
  std::map<std::uint64_t, std::vector<std::byte>> messages;  ///< by number, of their full length
  std::map<std::uint64_t, std::uint64_t> arrived;            ///< bytes
  std::map<std::uint64_t, Sent> ended;                       ///< by token
  unsigned packets = 0;
  unsigned parts = 0;
  unsigned places = 0;
  std::size_t piece_bytes = 1U << 30;   ///< memory is described in pieces of so many
  std::size_t answer_bytes = 1U << 30;  ///< and no more than so many at a time; 0: by parts
  std::vector<iovec> pieces;

  static Prefix decode(std::span<const std::byte> bytes) {
    Prefix prefix{};
    std::memcpy(&prefix, bytes.data(), sizeof prefix);
    return prefix;
  }
  void packet(std::uint32_t, const wire::Envelope&, const Body&) { ++packets; }
  void sent(std::uint64_t token, Sent how) {
    EXPECT_TRUE(ended.emplace(token, how).second) << token;
  }
  std::span<const iovec> place(std::uint32_t, const wire::Envelope& envelope,
                               std::span<const std::byte> bytes, std::uint64_t offset,
                               std::uint64_t left) {
    EXPECT_EQ(envelope.length, bytes.size() + offset + left);
    ++places;
    const Prefix prefix = decode(bytes);
    auto& message = messages[prefix.message];
    EXPECT_LE(prefix.offset + offset + left, message.size());
    pieces.clear();
    std::size_t at = 0;
    const std::size_t most = std::min<std::size_t>(left, answer_bytes);
    for (; at < most; at += piece_bytes) {
      pieces.push_back(
          {message.data() + prefix.offset + offset + at, std::min(piece_bytes, most - at)});
    }
    return pieces;
  }
  void placed(std::uint32_t, const wire::Envelope&, std::span<const std::byte> bytes, std::uint64_t,
              std::uint64_t count) {
    arrived[decode(bytes).message] += count;
  }
  void part(std::uint32_t, const wire::Envelope&, std::span<const std::byte> bytes,
            std::uint64_t offset, std::span<const std::byte> payload) {
    ++parts;
    const Prefix prefix = decode(bytes);
    std::copy(payload.begin(), payload.end(),
              messages[prefix.message].begin() + long(prefix.offset + offset));
    arrived[prefix.message] += payload.size();
  }
};
static_assert(PlacesBodies<PlacingSink>);

/// A message on its way: posts one packet after the other.
struct Message {
  std::uint64_t number;
  std::vector<std::byte> bytes;
  std::size_t packet_bytes = Tcp::max_in_place_bytes - sizeof(Prefix);
  std::size_t piece_bytes = 1U << 30;
  std::uint64_t offset = 0;
  std::uint64_t packets = 0;

  [[nodiscard]] std::uint64_t token(std::uint64_t packet) const { return number << 32 | packet; }
  /// Posts as much as is taken; true if all is posted.
  template <class P>
  bool step(P& from, std::uint32_t to) {
    while (offset < bytes.size()) {
      const std::size_t count = std::min<std::size_t>(packet_bytes, bytes.size() - offset);
      std::vector<iovec> pieces;
      for (std::size_t at = 0; at < count; at += piece_bytes) {
        pieces.push_back({&bytes[offset + at], std::min(piece_bytes, count - at)});
      }
      const Prefix prefix{number, offset};
      const std::span prefix_bytes(reinterpret_cast<const std::byte*>(&prefix), sizeof prefix);
      const Post post =
          from.post_in_place(to, envelope(sizeof prefix + count, 0, wire::PacketKind::data),
                             prefix_bytes, pieces, token(packets));
      if (post == Post::again) return false;
      offset += count;
      ++packets;
    }
    return true;
  }
};

}  // namespace fulmar::fabric
