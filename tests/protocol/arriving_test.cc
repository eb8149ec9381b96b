// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "protocol/raw_peer.h"

/// Short messages whose bodies a network reads to where they belong while they come
/// (fabric::ExpectsBodies). The test plays the network.
namespace fulmar::device {
namespace {

constexpr std::size_t length = 20'000;

std::vector<std::byte> contents(std::uint32_t seed, std::size_t bytes = length) {
  std::vector<std::byte> made(bytes);
  for (std::size_t at = 0; at < bytes; ++at) made[at] = content(seed, at);
  return made;
}
wire::Envelope envelope_of(std::size_t bytes, std::int32_t tag,
                           wire::PacketKind kind = wire::PacketKind::eager) {
  return {kind, 0, 0, tag, static_cast<std::uint32_t>(bytes)};
}

/// Brings bytes [from, to) of a body as a network would.
void bring(Device& device, std::uint32_t peer, const wire::Envelope& envelope,
           std::span<const std::byte> body, std::size_t from, std::size_t to) {
  while (from < to) {
    const auto places = device.place(peer, envelope, {}, from, envelope.length - from);
    if (places.empty()) return device.part(peer, envelope, {}, from, body.subspan(from, to - from));
    std::size_t copied = 0;
    for (const iovec& place : places) {
      const std::size_t count = std::min(place.iov_len, body.size() - from - copied);
      std::memcpy(place.iov_base, body.data() + from + copied, count);
      copied += count;
    }
    device.placed(peer, envelope, {}, from, copied);
    from += copied;
  }
}

TEST(Arriving, Body_comes_to_the_buffer_of_its_receive) {
  for (const Layout layout : {Layout::dense, Layout::strided, Layout::runs}) {
    RawPeer peer;
    auto receive = peer.cluster.receive(0, 1, 5, length, layout);
    const auto body = contents(3);
    const wire::Envelope envelope = envelope_of(length, 5);
    ASSERT_TRUE(peer.device().expect(1, envelope));
    EXPECT_EQ(receive->stage(), Stage::arriving);
    bring(peer.device(), 1, envelope, body, 0, length);
    ASSERT_TRUE(receive->done());
    EXPECT_EQ(receive->bytes(), body);
    EXPECT_EQ(receive->outcome().bytes, length);
    EXPECT_EQ(receive->outcome().tag, 5);
    EXPECT_EQ(receive->outcome().error, base::ErrorClass::success);
    EXPECT_EQ(peer.malformed(), 0U);
  }
}

TEST(Arriving, Without_its_receive_it_is_not_expected) {
  RawPeer peer;
  auto other = peer.cluster.receive(0, 1, 6, length);
  EXPECT_FALSE(peer.device().expect(1, envelope_of(length, 5)));
  EXPECT_FALSE(peer.device().expect(2, envelope_of(length, 6)));
  EXPECT_FALSE(peer.device().expect(1, envelope_of(length, 6, wire::PacketKind::eager_sync)));
  EXPECT_FALSE(peer.device().expect(1, envelope_of(length, 6, wire::PacketKind::data)));
  EXPECT_EQ(other->stage(), Stage::posted);
  peer.device().cancel(other->operation);
}

/// The turn of a message is when its front comes: what follows meets the next receive.
TEST(Arriving, Receives_are_matched_in_the_order_of_the_fronts) {
  RawPeer peer;
  auto first = peer.cluster.receive(0, 1, match::any_tag, length);
  auto second = peer.cluster.receive(0, match::any_peer, match::any_tag, length);
  const auto body = contents(4);
  const wire::Envelope envelope = envelope_of(length, 5);
  ASSERT_TRUE(peer.device().expect(1, envelope));
  const auto from_another = contents(9, 100);
  peer.deliver(2, wire::PacketKind::eager, from_another, 7);
  EXPECT_TRUE(second->done());
  EXPECT_EQ(second->outcome().tag, 7);
  EXPECT_FALSE(first->done());
  bring(peer.device(), 1, envelope, body, 0, length);
  ASSERT_TRUE(first->done());
  EXPECT_EQ(first->bytes(), body);
}

TEST(Arriving, It_cannot_be_cancelled_any_more) {
  RawPeer peer;
  auto receive = peer.cluster.receive(0, 1, 5, length);
  const auto body = contents(3);
  const wire::Envelope envelope = envelope_of(length, 5);
  ASSERT_TRUE(peer.device().expect(1, envelope));
  peer.device().cancel(receive->operation);
  EXPECT_FALSE(receive->done());
  bring(peer.device(), 1, envelope, body, 0, length);
  ASSERT_TRUE(receive->done());
  EXPECT_FALSE(receive->outcome().cancelled);
}

/// The buffer takes what fits, the rest is dropped, and the next message is not disturbed.
TEST(Arriving, Too_long_a_message_is_truncated) {
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{7000}, length - 1}) {
    RawPeer peer;
    auto receive = peer.cluster.receive(0, 1, 5, room);
    auto next = peer.cluster.receive(0, 1, 5, length);
    const auto body = contents(3);
    const wire::Envelope envelope = envelope_of(length, 5);
    ASSERT_TRUE(peer.device().expect(1, envelope));
    bring(peer.device(), 1, envelope, body, 0, length);
    ASSERT_TRUE(receive->done());
    EXPECT_EQ(receive->outcome().error, base::ErrorClass::truncate);
    EXPECT_EQ(receive->outcome().bytes, room);
    EXPECT_EQ(receive->bytes(), contents(3, room));
    EXPECT_FALSE(next->done());
    ASSERT_TRUE(peer.device().expect(1, envelope));
    bring(peer.device(), 1, envelope, body, 0, length);
    ASSERT_TRUE(next->done());
    EXPECT_EQ(next->bytes(), body);
  }
}

/// Two networks could bring messages of one peer at once: only one is read to its place.
TEST(Arriving, One_message_of_a_peer_at_a_time) {
  RawPeer peer;
  auto first = peer.cluster.receive(0, 1, 5, length);
  auto second = peer.cluster.receive(0, 1, 5, length);
  const auto body = contents(3);
  const wire::Envelope envelope = envelope_of(length, 5);
  ASSERT_TRUE(peer.device().expect(1, envelope));
  EXPECT_FALSE(peer.device().expect(1, envelope));
  EXPECT_EQ(second->stage(), Stage::posted);
  bring(peer.device(), 1, envelope, body, 0, length);
  EXPECT_TRUE(first->done());
  EXPECT_TRUE(peer.device().expect(1, envelope));
  bring(peer.device(), 1, envelope, body, 0, length);
  EXPECT_TRUE(second->done());
}

/// Unexpected bytes, as a faulty network would bring them, change nothing.
TEST(Arriving, Bytes_without_a_receive_go_nowhere) {
  RawPeer peer;
  auto receive = peer.cluster.receive(0, 1, 5, length);
  const auto body = contents(3);
  const wire::Envelope envelope = envelope_of(length, 5);
  EXPECT_TRUE(peer.device().place(1, envelope, {}, 0, length).empty());
  peer.device().placed(1, envelope, {}, 0, length);
  peer.device().part(1, envelope, {}, 0, body);
  EXPECT_EQ(receive->stage(), Stage::posted);
  peer.device().cancel(receive->operation);
}

}  // namespace
}  // namespace fulmar::device
