// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "wire/bundle/bundle_address.h"
#include "wire/bundle/bundle_packet.h"

namespace fulmar::wire {
namespace {

std::vector<BundleRail> two_rails() {
  return {{"tcp", std::vector<std::byte>(100, std::byte{1})},
          {"tcp:10.0.1.0/24", std::vector<std::byte>(60, std::byte{2})}};
}

TEST(BundleAddress, Comes_back) {
  const auto bytes = encode_bundle_address(two_rails());
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(is_bundle_address(bytes.value()));
  auto rails = decode_bundle_address(bytes.value());
  ASSERT_TRUE(rails.ok());
  EXPECT_EQ(*rails, two_rails());
}

TEST(BundleAddress, What_does_not_fit_is_refused) {
  auto rails = two_rails();
  rails[0].address.resize(600);
  const auto long_one = encode_bundle_address(rails);
  ASSERT_TRUE(long_one.failed());
  EXPECT_NE(long_one.error().text().find("FULMAR_RAILS"), std::string::npos);
  EXPECT_TRUE(encode_bundle_address({}).failed());
  rails = two_rails();
  rails[1].label = "with blank";
  EXPECT_TRUE(encode_bundle_address(rails).failed());
  rails[1].label.clear();
  EXPECT_TRUE(encode_bundle_address(rails).failed());
}

TEST(BundleAddress, Cut_and_damaged_ones_are_refused) {
  auto encoded = encode_bundle_address(two_rails());
  ASSERT_TRUE(encoded.ok());
  const std::vector<std::byte>& bytes = *encoded;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_TRUE(decode_bundle_address(std::span(bytes).first(length)).failed()) << length;
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(decode_bundle_address(longer).failed());
  for (const std::size_t at : {0U, 3U, 4U, 5U, 8U, 9U}) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0xff};
    EXPECT_TRUE(decode_bundle_address(damaged).failed()) << at;
  }
  auto twice = two_rails();
  twice[1].label = "tcp";
  const auto same = encode_bundle_address(twice);
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(decode_bundle_address(same.value()).failed());
}

TEST(BundlePacket, Decoder_wants_a_whole_header) {
  BundlePacket packet{7, 8, 1, 1, 9, 10, 0};
  std::vector<std::byte> bytes(sizeof packet);
  std::memcpy(bytes.data(), &packet, sizeof packet);
  const auto decoded = decode_bundle_packet(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->number, 7U);
  EXPECT_EQ(decoded->life, 9U);
  EXPECT_EQ(decoded->to_life, 10U);
  EXPECT_FALSE(decode_bundle_packet(std::span(bytes).first(bytes.size() - 1)));
}

TEST(BundlePacket, Kinds_have_their_places_and_lengths) {
  const auto fault = [](BundleWhat what, BundlePlace place, std::size_t rest) {
    BundlePacket packet;
    packet.what = static_cast<std::uint8_t>(what);
    packet.life = 1;
    return fault_of(packet, place, rest);
  };
  const auto packet = BundlePlace::packet;
  const auto in_place = BundlePlace::in_place;
  EXPECT_EQ(fault(BundleWhat::packet, packet, 0), nullptr);
  EXPECT_EQ(fault(BundleWhat::packet, packet, 60'000), nullptr);
  EXPECT_NE(fault(BundleWhat::packet, in_place, 16), nullptr);
  EXPECT_EQ(fault(BundleWhat::piece, in_place, 16), nullptr);
  EXPECT_NE(fault(BundleWhat::piece, in_place, 0), nullptr);
  EXPECT_NE(fault(BundleWhat::piece, in_place, 17), nullptr);
  EXPECT_NE(fault(BundleWhat::piece, packet, 16), nullptr);
  EXPECT_EQ(fault(BundleWhat::ack, packet, 16), nullptr);
  EXPECT_NE(fault(BundleWhat::ack, packet, 15), nullptr);
  EXPECT_EQ(fault(BundleWhat::down, packet, 16), nullptr);
  EXPECT_NE(fault(BundleWhat::down, packet, 17), nullptr);
  EXPECT_EQ(fault(BundleWhat::bye, packet, 0), nullptr);
  EXPECT_NE(fault(BundleWhat::bye, packet, 1), nullptr);
  EXPECT_NE(fault(static_cast<BundleWhat>(0), packet, 0), nullptr);
  EXPECT_NE(fault(static_cast<BundleWhat>(6), packet, 0), nullptr);
}

TEST(BundlePacket, Sender_has_a_life) {
  BundlePacket packet;
  packet.what = static_cast<std::uint8_t>(BundleWhat::packet);
  EXPECT_NE(fault_of(packet, BundlePlace::packet, 0), nullptr);
  packet.life = 1;
  EXPECT_EQ(fault_of(packet, BundlePlace::packet, 0), nullptr);
  packet.reserved = 1;
  EXPECT_NE(fault_of(packet, BundlePlace::packet, 0), nullptr);
}

TEST(BundlePacket, Lives_are_counted_in_a_circle_without_0) {
  EXPECT_EQ(bundle_life_after(1), 2U);
  EXPECT_EQ(bundle_life_after(65535), 1U);
  EXPECT_TRUE(is_later_bundle_life(2, 1));
  EXPECT_FALSE(is_later_bundle_life(1, 2));
  EXPECT_FALSE(is_later_bundle_life(7, 7));
  EXPECT_TRUE(is_later_bundle_life(1, 65535));
  EXPECT_TRUE(is_later_bundle_life(3, 65530));
  EXPECT_FALSE(is_later_bundle_life(65535, 1));
}

}  // namespace
}  // namespace fulmar::wire
