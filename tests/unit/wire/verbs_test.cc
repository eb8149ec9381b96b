// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "wire/ofi/ofi_address.h"
#include "wire/tcp/tcp_address.h"
#include "wire/verbs/connection_info.h"
#include "wire/verbs/verbs_address.h"
#include "wire/verbs/verbs_packet.h"
#include "wire/verbs/verbs_ring.h"

namespace fulmar::wire {
namespace {

std::vector<std::byte> some_meeting(std::size_t bytes) {
  std::vector<std::byte> connector_address(bytes);
  for (std::size_t i = 0; i < bytes; ++i) connector_address[i] = static_cast<std::byte>(i * 5 + 1);
  return connector_address;
}

TEST(VerbsAddress, Comes_back_as_it_was) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{60}, max_verbs_connector_bytes}) {
    for (const VerbsLink link : {VerbsLink::infiniband, VerbsLink::ethernet}) {
      const VerbsAddress address{link, some_meeting(bytes)};
      const auto encoded = encode_verbs_address(address);
      EXPECT_TRUE(is_verbs_address(encoded));
      EXPECT_LE(encoded.size(), 600U);
      const auto decoded = decode_verbs_address(encoded);
      ASSERT_TRUE(decoded.ok()) << decoded.error().text();
      EXPECT_EQ(decoded.value(), address);
    }
  }
}

TEST(VerbsAddress, Damage_and_wrong_lengths_are_refused) {
  const auto bytes = encode_verbs_address({VerbsLink::ethernet, some_meeting(8)});
  for (std::size_t at = 0; at < verbs_address_header_bytes; ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x40};
    EXPECT_TRUE(decode_verbs_address(damaged).failed()) << at;
  }
  for (std::size_t length = 0; length <= verbs_address_header_bytes; ++length) {
    EXPECT_TRUE(decode_verbs_address(std::span(bytes).first(length)).failed()) << length;
  }
  auto long_one = encode_verbs_address({VerbsLink::ethernet, some_meeting(592)});
  long_one.push_back(std::byte{0});
  EXPECT_TRUE(decode_verbs_address(long_one).failed());
}

TEST(VerbsAddress, Is_told_from_those_of_other_networks) {
  EXPECT_FALSE(is_verbs_address({}));
  EXPECT_FALSE(is_verbs_address(encode_tcp_addresses({})));
  EXPECT_FALSE(is_verbs_address(encode_ofi_address({"tcp", 1, some_meeting(4)}).value()));
  EXPECT_FALSE(is_ofi_address(encode_verbs_address({VerbsLink::ethernet, some_meeting(4)})));
  EXPECT_TRUE(
      decode_tcp_addresses(encode_verbs_address({VerbsLink::ethernet, some_meeting(40)})).failed());
}

VerbsConnectionInfo some_card() {
  VerbsConnectionInfo info;
  info.from = {5, 7, 3};
  info.queue = 0x123456;
  info.first = 0xffffff;
  info.lid = 0;
  info.link = VerbsLink::ethernet;
  info.mtu = 5;
  for (std::size_t i = 0; i < info.gid.size(); ++i) info.gid[i] = static_cast<std::byte>(i + 1);
  info.cookie = 0x8899aabbccddeeff;
  info.window = 64;
  info.buffer_bytes = verbs_max_packet_bytes;
  info.max_reads = 16;
  return info;
}

TEST(VerbsConnectionInfo, Comes_back_as_it_was) {
  VerbsConnectionInfo info = some_card();
  EXPECT_EQ(decode_verbs_card(encode_verbs_card(info)), info);
  info.link = VerbsLink::infiniband;
  info.lid = 0xc001;
  info.gid = {};
  EXPECT_EQ(decode_verbs_card(encode_verbs_card(info)), info);
}

TEST(VerbsConnectionInfo, Fields_that_make_no_sense_are_refused) {
  std::vector<VerbsConnectionInfo> wrong(12, some_card());
  wrong[0].queue = 0;
  wrong[1].queue = verbs_number_mask + 1;
  wrong[2].first = verbs_number_mask + 1;
  wrong[3].mtu = 0;
  wrong[4].mtu = 6;
  wrong[5].cookie = 0;
  wrong[6].window = 0;
  wrong[7].buffer_bytes = 0;
  wrong[8].gid = {};
  wrong[9].link = static_cast<VerbsLink>(3);
  wrong[10].link = VerbsLink::infiniband;
  wrong[10].gid = {};
  wrong[11].max_reads = 0;
  wrong.push_back(some_card());
  wrong.back().from.job = 0;
  for (const VerbsConnectionInfo& info : wrong) {
    EXPECT_EQ(decode_verbs_card(encode_verbs_card(info)), std::nullopt) << &info - wrong.data();
  }
}

TEST(VerbsConnectionInfo, Damage_of_magic_or_reserve_and_wrong_lengths_are_refused) {
  const auto bytes = encode_verbs_card(some_card());
  for (const std::size_t at : {0U, 1U, 2U, 3U, 58U, 60U, 63U}) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{1};
    EXPECT_EQ(decode_verbs_card(damaged), std::nullopt) << at;
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode_verbs_card(std::span(bytes).first(length)), std::nullopt) << length;
  }
}

/// One that names no job.
TEST(VerbsConnectionInfo, Card_of_the_version_before_is_refused) {
  auto bytes = encode_verbs_card(some_card());
  bytes[3] = std::byte{'3'};
  EXPECT_EQ(decode_verbs_card(bytes), std::nullopt);
}

TEST(VerbsConnectionInfo, Ready_is_one_word) {
  auto word = verbs_ready();
  EXPECT_TRUE(is_verbs_ready(word));
  EXPECT_FALSE(is_verbs_ready(std::span(word).first(3)));
  word[2] ^= std::byte{1};
  EXPECT_FALSE(is_verbs_ready(word));
}

TEST(VerbsConnectionInfo, Ports_are_written_as_people_write_them) {
  std::array<std::byte, 16> gid{};
  gid[10] = gid[11] = std::byte{0xff};
  gid[12] = std::byte{10};
  gid[15] = std::byte{3};
  EXPECT_EQ(text_of_port(gid, 0, VerbsLink::ethernet), "10.0.0.3");
  EXPECT_EQ(text_of_port(gid, 17, VerbsLink::infiniband), "lid 17");
  gid = {};
  gid[0] = std::byte{0xfe};
  gid[1] = std::byte{0x80};
  gid[15] = std::byte{2};
  EXPECT_EQ(text_of_port(gid, 0, VerbsLink::infiniband), "fe80::2");
}

TEST(VerbsPacket, Genuine_ones_have_no_fault) {
  const Envelope envelope{PacketKind::eager, 0xff, 1, -2, 100};
  const VerbsPacket packet = verbs_packet(envelope, 0);
  EXPECT_EQ(fault_of(packet, 100), nullptr);
  EXPECT_EQ(envelope_of(packet).tag, -2);
  EXPECT_EQ(envelope_of(packet).flags, 0xff);
  EXPECT_EQ(fault_of(verbs_packet(envelope, 32), 100), nullptr);
  for (const VerbsSignal signal :
       {VerbsSignal::bye, VerbsSignal::seen, VerbsSignal::credit, VerbsSignal::farewell}) {
    EXPECT_TRUE(is_verbs_signal(verbs_packet(signal).kind));
    EXPECT_EQ(fault_of(verbs_packet(signal), 0), nullptr);
  }
  for (const VerbsSignal signal : {VerbsSignal::lend, VerbsSignal::gate}) {
    EXPECT_TRUE(is_verbs_signal(verbs_packet(signal).kind));
    EXPECT_EQ(fault_of(verbs_packet(signal), verbs_place_bytes), nullptr);
  }
}

TEST(VerbsPacket, Each_fault_is_found) {
  const Envelope envelope{PacketKind::data, 0, 0, 0, 32};
  std::vector<VerbsPacket> wrong(6, verbs_packet(envelope, 16));
  wrong[0].length = 31;
  wrong[1] = verbs_packet(VerbsSignal::lend);
  wrong[2].kind = 0;
  wrong[3].kind = static_cast<std::uint8_t>(PacketKind::ring_close);
  wrong[4].prefix_bytes = 33;
  wrong[5].prefix_bytes = 32;
  for (const VerbsPacket& packet : wrong) {
    EXPECT_NE(fault_of(packet, 32), nullptr) << &packet - wrong.data();
  }
  VerbsPacket bye = verbs_packet(VerbsSignal::bye);
  bye.context = 1;
  EXPECT_NE(fault_of(bye, 0), nullptr);
  bye = verbs_packet(VerbsSignal::bye);
  bye.length = verbs_place_bytes;
  EXPECT_NE(fault_of(bye, verbs_place_bytes), nullptr);
  EXPECT_NE(fault_of(verbs_packet(VerbsSignal::gate), 0), nullptr);
  VerbsPacket long_one = verbs_packet(envelope, 0);
  long_one.length = verbs_max_body_bytes + 1;
  EXPECT_NE(fault_of(long_one, long_one.length), nullptr);
  EXPECT_FALSE(decode_verbs_packet(std::vector<std::byte>(31)).has_value());
}

VerbsPacket some_head() {
  VerbsPacket head;
  head.cookie = 0x123456789abcdef1;
  head.sequence = 0xfffffff0;
  head.taken = 0x12345678;
  head.heard = 0x9a;
  return head;
}

TEST(VerbsRing, End_of_a_slot_tells_what_lies_ahead_of_it) {
  EXPECT_FALSE(is_verbs_slot_full(0));
  const VerbsPacket head = some_head();
  const std::uint64_t mark = verbs_slot_mark(head.cookie, head.sequence);
  for (const std::size_t bytes : {std::size_t{0}, sizeof head, verbs_max_slot_packet_bytes}) {
    const std::uint64_t whole = verbs_slot_end(mark, bytes);
    const std::uint64_t bare = verbs_bare_end(mark, head, bytes);
    EXPECT_FALSE(is_verbs_slot_bare(whole));
    EXPECT_TRUE(is_verbs_slot_bare(bare));
    EXPECT_EQ(verbs_slot_heard(bare), 0x9a);
    EXPECT_EQ(verbs_slot_taken(bare), 0x78);
    for (const std::uint64_t end : {whole, bare}) {
      EXPECT_TRUE(is_verbs_slot_full(end));
      EXPECT_EQ(verbs_slot_bytes_of(end), bytes);
      EXPECT_TRUE(is_verbs_slot_whole(mark, end, mark));
      for (unsigned bit = 0; bit < 64; ++bit) {
        const std::uint64_t torn = std::uint64_t{1} << bit;
        EXPECT_FALSE(is_verbs_slot_whole(mark ^ torn, end, mark)) << bit;
        const bool in_mark = bit >= 24 && bit < 56;
        EXPECT_EQ(is_verbs_slot_whole(mark, end ^ torn, mark), !in_mark) << bit;
      }
    }
  }
  EXPECT_EQ(verbs_slot_bytes_of(verbs_max_slot_packet_bytes + 1), 0U);
}

/// What an earlier packet has left in a slot is none of the next one.
TEST(VerbsRing, Marks_of_a_slot_differ_from_lap_to_lap_and_between_peers) {
  const VerbsPacket head = some_head();
  const std::uint64_t mark = verbs_slot_mark(head.cookie, head.sequence);
  for (std::uint32_t lap = 1; lap < 100'000; ++lap) {
    const std::uint64_t later =
        verbs_slot_mark(head.cookie, head.sequence + lap * verbs_ring_slots);
    ASSERT_NE(later, mark);
    ASSERT_FALSE(is_verbs_slot_whole(mark, verbs_slot_end(mark, 8), later)) << lap;
  }
  const std::uint64_t other = verbs_slot_mark(head.cookie + 1, head.sequence);
  EXPECT_FALSE(is_verbs_slot_whole(mark, verbs_slot_end(mark, 8), other));
}

TEST(VerbsRing, Word_of_a_gate_is_believed_when_all_of_it_is_there) {
  constexpr std::uint64_t cookie = 0x123456789abcdef1;
  for (unsigned turn = 0; turn < 70'000; turn += 7) {
    const auto before = static_cast<std::uint16_t>(turn);
    const auto after = static_cast<std::uint16_t>(turn + 1);
    const auto was = std::bit_cast<std::array<std::byte, 8>>(verbs_gate(cookie, before));
    const std::uint64_t whole = verbs_gate(cookie, after);
    EXPECT_EQ(verbs_gate_turn(whole, cookie), after);
    EXPECT_FALSE(verbs_gate_turn(whole, cookie + 1).has_value());
    for (std::size_t written = 1; written < 8; ++written) {
      auto torn = was;
      std::memcpy(torn.data(), &whole, written);
      const auto word = std::bit_cast<std::uint64_t>(torn);
      if (word != whole) {
        EXPECT_FALSE(verbs_gate_turn(word, cookie).has_value());
      }
    }
  }
  EXPECT_FALSE(verbs_gate_turn(0, cookie).has_value());
}

}  // namespace
}  // namespace fulmar::wire
