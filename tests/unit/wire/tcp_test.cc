// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <set>

#include "wire/network_order.h"
#include "wire/tcp/tcp_address.h"
#include "wire/tcp/tcp_handshake.h"

namespace fulmar::wire {
namespace {

TcpAddresses sample() {
  TcpAddresses addresses;
  addresses.host.boot.fill(3);
  addresses.host.network = 4026531840;
  TcpAddress v4;
  v4.bytes = {10, 0, 0, 1};
  v4.port = 4711;
  v4.prefix_bits = 24;
  TcpAddress v6;
  v6.bytes = {0xfe, 0x80};
  v6.bytes[15] = 9;
  v6.scope = 2;
  v6.port = 65535;
  v6.family = AddressFamily::v6;
  v6.prefix_bits = 64;
  v6.kind = AddressKind::link_local;
  addresses.list = {v4, v6};
  return addresses;
}

TEST(NetworkOrder, The_highest_byte_is_first_and_nothing_is_written_beyond_the_end) {
  std::array<std::byte, 5> bytes{};
  NetworkWriter out(bytes);
  out.number(std::uint32_t{0x01020304});
  out.number(std::uint16_t{0xffff});
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(bytes[3], std::byte{4});
  EXPECT_EQ(bytes[4], std::byte{0});
  EXPECT_EQ(out.left(), 1U);
  NetworkReader in(bytes);
  EXPECT_EQ(in.number<std::uint32_t>(), 0x01020304U);
  EXPECT_EQ(in.number<std::uint16_t>(), 0U);
}

TEST(TcpAddresses, Come_back_as_they_were) {
  const TcpAddresses addresses = sample();
  const auto decoded = decode_tcp_addresses(encode_tcp_addresses(addresses));
  ASSERT_TRUE(decoded.ok()) << decoded.error().text();
  EXPECT_EQ(decoded.value().host, addresses.host);
  EXPECT_EQ(decoded.value().list, addresses.list);
}

TEST(TcpAddresses, Too_many_are_cut) {
  TcpAddresses addresses = sample();
  addresses.list.resize(50, addresses.list[0]);
  const auto bytes = encode_tcp_addresses(addresses);
  EXPECT_EQ(bytes.size(), max_tcp_addresses_bytes);
  const auto decoded = decode_tcp_addresses(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded.value().list.size(), max_tcp_addresses);
}

TEST(TcpAddresses, Every_other_length_is_refused) {
  auto bytes = encode_tcp_addresses(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(decode_tcp_addresses(std::span(bytes).first(size)).failed()) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(decode_tcp_addresses(bytes).failed());
}

TEST(TcpAddresses, A_field_that_makes_no_sense_is_named) {
  struct Damage {
    std::size_t at;
    int value;
    const char* name;
  };
  constexpr std::size_t entry = tcp_addresses_header_bytes;
  for (const Damage damage : {Damage{entry + 22, 5, "family"},
                              {entry + 23, 33, "prefix length"},
                              {entry + 24, 6, "kind"},
                              {entry + 8, 1, "address"},
                              {0, 1, "version"}}) {
    auto bytes = encode_tcp_addresses(sample());
    bytes[damage.at] = static_cast<std::byte>(damage.value);
    const auto decoded = decode_tcp_addresses(bytes);
    ASSERT_TRUE(decoded.failed()) << damage.name;
    EXPECT_NE(decoded.error().text().find(damage.name), std::string::npos);
  }
  TcpAddresses nowhere = sample();
  nowhere.list[0].port = 0;
  const auto decoded = decode_tcp_addresses(encode_tcp_addresses(nowhere));
  ASSERT_TRUE(decoded.failed());
  EXPECT_NE(decoded.error().text().find("port"), std::string::npos);
}

TcpHello some_hello() {
  TcpHello hello;
  hello.from = {6, 1};
  hello.to = {8, 2, 1};
  hello.lane = 3;
  hello.from_port = 4;
  hello.to_port = 5;
  hello.nonce.fill(std::byte{7});
  return hello;
}

TEST(TcpHandshake, Messages_come_back_as_they_were) {
  const auto hello = decode_tcp_hello(encode_tcp_hello(some_hello()));
  ASSERT_TRUE(hello);
  EXPECT_EQ(*hello, some_hello());
  TcpChallenge challenge;
  challenge.answer = TcpAnswer::given_up;
  challenge.nonce.fill(std::byte{8});
  challenge.mac.fill(std::byte{9});
  const auto same = decode_tcp_challenge(encode_tcp_challenge(challenge));
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->answer == challenge.answer && same->nonce == challenge.nonce &&
              same->mac == challenge.mac && same->version == tcp_version);
  const auto verdict = decode_tcp_verdict(encode_tcp_verdict({TcpAnswer::taken, challenge.mac}));
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->answer == TcpAnswer::taken && verdict->mac == challenge.mac);
}

TEST(TcpHandshake, What_is_no_message_is_refused) {
  auto hello = encode_tcp_hello(some_hello());
  EXPECT_FALSE(decode_tcp_hello(std::span(hello).first(67)));
  TcpHello nameless = some_hello();
  nameless.from.job = 0;
  EXPECT_FALSE(decode_tcp_hello(encode_tcp_hello(nameless)));
  nameless.version = 3;  // has no names there
  const auto older = decode_tcp_hello(encode_tcp_hello(nameless));
  ASSERT_TRUE(older);
  EXPECT_EQ(older->version, 3U);
  hello[7] = std::byte{0};
  EXPECT_FALSE(decode_tcp_hello(hello));
  auto challenge = encode_tcp_challenge({});
  challenge[15] = static_cast<std::byte>(tcp_answer_count);
  EXPECT_FALSE(decode_tcp_challenge(challenge));
  EXPECT_FALSE(decode_tcp_challenge(std::span(challenge).first(79)));
  auto verdict = encode_tcp_verdict({});
  verdict[3] = static_cast<std::byte>(tcp_answer_count);
  EXPECT_FALSE(decode_tcp_verdict(verdict));
}

TEST(TcpHandshake, Every_field_changes_the_transcript) {
  std::vector<TcpHello> hellos(13, some_hello());
  hellos[1].from.rank = 9;
  hellos[2].to.rank = 9;
  hellos[3].lane = 9;
  hellos[4].from_port = 9;
  hellos[5].to_port = 9;
  hellos[6].from.job = 9;
  hellos[7].nonce[31] = std::byte{9};
  hellos[8].version = 9;
  hellos[9].to.job = 9;
  hellos[10].from.engine = 9;
  hellos[11].to.engine = 9;
  std::swap(hellos[12].from, hellos[12].to);
  std::set<std::array<std::byte, tcp_transcript_bytes>> seen;
  const TcpNonce nonce{};
  for (const TcpHello& hello : hellos) {
    seen.insert(tcp_transcript(TcpProofOf::proof, hello, nonce, TcpAnswer::proceed));
  }
  TcpNonce other{};
  other[0] = std::byte{1};
  seen.insert(tcp_transcript(TcpProofOf::proof, hellos[0], other, TcpAnswer::proceed));
  seen.insert(tcp_transcript(TcpProofOf::proof, hellos[0], nonce, TcpAnswer::taken));
  seen.insert(tcp_transcript(TcpProofOf::challenge, hellos[0], nonce, TcpAnswer::proceed));
  seen.insert(tcp_transcript(TcpProofOf::verdict, hellos[0], nonce, TcpAnswer::proceed));
  EXPECT_EQ(seen.size(), hellos.size() + 4);
}

}  // namespace
}  // namespace fulmar::wire
