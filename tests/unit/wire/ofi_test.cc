// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "wire/ofi/ofi_address.h"
#include "wire/ofi/ofi_packet.h"
#include "wire/tcp/tcp_address.h"

namespace fulmar::wire {
namespace {

std::vector<std::byte> some_name(std::size_t bytes) {
  std::vector<std::byte> name(bytes);
  for (std::size_t i = 0; i < bytes; ++i) name[i] = static_cast<std::byte>(i * 5 + 1);
  return name;
}

TEST(OfiAddress, Comes_back_as_it_was) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{16}, max_ofi_name_bytes}) {
    const OfiAddress address{"tcp;ofi_rxm", 2, some_name(bytes)};
    const auto encoded = encode_ofi_address(address);
    ASSERT_TRUE(encoded.ok());
    EXPECT_TRUE(is_ofi_address(encoded.value()));
    EXPECT_LE(encoded.value().size(), 600U);
    const auto decoded = decode_ofi_address(encoded.value());
    ASSERT_TRUE(decoded.ok()) << decoded.error().text();
    EXPECT_EQ(decoded.value(), address);
  }
}

TEST(OfiAddress, Names_that_are_too_long_are_refused) {
  EXPECT_TRUE(encode_ofi_address({"efa", 1, some_name(max_ofi_name_bytes + 1)}).failed());
  EXPECT_TRUE(encode_ofi_address({"efa", 1, {}}).failed());
  EXPECT_TRUE(encode_ofi_address({"", 1, some_name(4)}).failed());
  EXPECT_TRUE(encode_ofi_address({std::string(65, 'x'), 1, some_name(4)}).failed());
}

TEST(OfiAddress, Every_length_but_the_right_one_is_refused) {
  auto bytes = encode_ofi_address({"tcp;ofi_rxm", 2, some_name(16)}).value();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_TRUE(decode_ofi_address(std::span(bytes).first(length)).failed()) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(decode_ofi_address(bytes).failed());
}

TEST(OfiAddress, Damage_is_refused) {
  const auto bytes = encode_ofi_address({"tcp;ofi_rxm", 2, some_name(16)}).value();
  for (const std::size_t at : {0U, 3U, 8U, 9U, 10U, 11U}) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x40};
    EXPECT_TRUE(decode_ofi_address(damaged).failed()) << at;
  }
  auto damaged = bytes;
  damaged[14] = std::byte{'\n'};
  EXPECT_TRUE(decode_ofi_address(damaged).failed());
}

TEST(OfiAddress, Is_told_from_one_of_tcp) {
  EXPECT_FALSE(is_ofi_address(encode_tcp_addresses({})));
  EXPECT_FALSE(is_ofi_address({}));
  auto later = encode_ofi_address({"tcp", 2, some_name(16)}).value();
  later[3] = std::byte{'9'};
  EXPECT_TRUE(is_ofi_address(later));
  EXPECT_TRUE(decode_ofi_address(later).failed());
}

TEST(OfiPacket, Envelope_comes_back_as_it_was) {
  const Envelope envelope{PacketKind::eager_sync, 0xa5, 0xdeadbeef, -7, 1234};
  const OfiPacket packet = ofi_packet(envelope, 0);
  const Envelope got = envelope_of(packet);
  EXPECT_EQ(got.kind, envelope.kind);
  EXPECT_EQ(got.flags, envelope.flags);
  EXPECT_EQ(got.context, envelope.context);
  EXPECT_EQ(got.tag, envelope.tag);
  EXPECT_EQ(got.length, envelope.length);
  EXPECT_EQ(fault_of(packet, 1234), nullptr);
}

TEST(OfiPacket, Too_short_is_none) {
  std::vector<std::byte> bytes(sizeof(OfiPacket));
  const OfiPacket packet;
  std::memcpy(bytes.data(), &packet, sizeof packet);
  EXPECT_TRUE(decode_ofi_packet(bytes).has_value());
  EXPECT_FALSE(decode_ofi_packet(std::span(bytes).first(39)).has_value());
  EXPECT_FALSE(decode_ofi_packet({}).has_value());
}

TEST(OfiPacket, Names_its_sender_at_the_documented_places) {
  OfiPacket packet;
  set_sender(packet, {0x01020304, 5, 6});
  EXPECT_EQ(sender_of(packet), (ProcessName{0x01020304, 5, 6}));
  std::array<std::byte, sizeof packet> bytes;
  std::memcpy(bytes.data(), &packet, sizeof packet);
  EXPECT_EQ(bytes[0], std::byte{4});
  EXPECT_EQ(bytes[3], std::byte{1});
  EXPECT_EQ(bytes[4], std::byte{5});
  EXPECT_EQ(bytes[31], std::byte{6});
}

TEST(OfiPacket, Faults_are_found) {
  const OfiPacket good = ofi_packet({PacketKind::eager, 0, 1, 2, 100}, 0);
  EXPECT_EQ(fault_of(good, 100), nullptr);
  EXPECT_NE(fault_of(good, 99), nullptr);
  EXPECT_NE(fault_of(good, 101), nullptr);
  OfiPacket packet = good;
  packet.length = ofi_max_body_bytes + 1;
  EXPECT_NE(fault_of(packet, packet.length), nullptr);
  packet = good;
  packet.prefix_bytes = 16;
  EXPECT_EQ(fault_of(packet, 100), nullptr);
  packet.sequence = 5;
  EXPECT_NE(fault_of(packet, 100), nullptr);
  packet = good;
  packet.prefix_bytes = 100;
  EXPECT_NE(fault_of(packet, 100), nullptr);
}

TEST(OfiPacket, Signals_are_bare) {
  OfiPacket bye = ofi_packet(OfiSignal::bye, 77);
  bye.sequence = 3;
  EXPECT_EQ(fault_of(bye, 0), nullptr);
  bye.tag = 1;  // for good
  EXPECT_EQ(fault_of(bye, 0), nullptr);
  bye.tag = 2;
  EXPECT_NE(fault_of(bye, 0), nullptr);
  OfiPacket seen = ofi_packet(OfiSignal::seen, 0);
  EXPECT_EQ(fault_of(seen, 0), nullptr);
  seen.tag = 1;
  EXPECT_NE(fault_of(seen, 0), nullptr);
  seen.tag = 0;
  seen.sequence = 1;
  EXPECT_NE(fault_of(seen, 0), nullptr);
  seen = ofi_packet(OfiSignal::seen, 1);
  EXPECT_NE(fault_of(seen, 0), nullptr);
}

}  // namespace
}  // namespace fulmar::wire
