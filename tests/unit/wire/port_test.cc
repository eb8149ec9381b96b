// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <string>

#include "wire/port/group_exchange.h"
#include "wire/port/join_greeting.h"
#include "wire/port/port_handshake.h"
#include "wire/port/port_name.h"

namespace fulmar::wire {
namespace {

TcpAddress v4(std::uint8_t last, std::uint16_t port) {
  TcpAddress place;
  place.bytes = {10, 0, 0, last};
  place.port = port;
  return place;
}

TcpAddress v6(std::uint16_t port, std::uint32_t scope = 0) {
  TcpAddress place;
  place.family = AddressFamily::v6;
  place.bytes = {0xfd, 0};
  place.bytes[15] = 1;
  place.port = port;
  place.scope = scope;
  return place;
}

PortName some_port() {
  PortName port;
  for (std::size_t i = 0; i < port.secret.size(); ++i) {
    port.secret[i] = static_cast<std::uint8_t>(17 * i);
  }
  port.places = {v4(1, 34567), v6(34568), v6(9, 3)};
  return port;
}

TEST(PortName, Is_text_that_comes_back_as_it_was) {
  const std::string text = text_of(some_port());
  EXPECT_EQ(
      text,
      "fulmar1/00112233445566778899aabbccddeeff/10.0.0.1:34567,[fd00::1]:34568,[fd00::1%3]:9");
  const auto parsed = parse_port_name(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_EQ(parsed.value(), some_port());
}

TEST(PortName, Fits_with_the_most_and_longest_addresses) {
  PortName port = some_port();
  TcpAddress longest = v6(65535, 4294967295U);
  longest.bytes.fill(0xee);
  port.places.assign(40, longest);
  const std::string text = text_of(port);
  EXPECT_LE(text.size(), max_port_name_bytes);
  const auto parsed = parse_port_name(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  EXPECT_GE(parsed.value().places.size(), 10U);
}

TEST(PortName, What_is_none_is_refused_without_its_secret_in_the_text) {
  const std::string secret = "00112233445566778899aabbccddeeff";
  for (const std::string& text :
       {std::string(), std::string("fulmar"), std::string("tcp://10.0.0.1:5"),
        "fulmar2/" + secret + "/10.0.0.1:5", "fulmar1/" + secret, "fulmar1/" + secret + "/",
        "fulmar1/" + secret + "/10.0.0.1", "fulmar1/" + secret + "/10.0.0.1:0",
        "fulmar1/" + secret + "/10.0.0.1:65536", "fulmar1/" + secret + "/10.0.0:5",
        "fulmar1/" + secret + "/[fd00::1]", "fulmar1/" + secret + "/[fd00::1%0]:5",
        "fulmar1/" + secret + "/10.0.0.1:5,", "fulmar1/" + secret.substr(1) + "/10.0.0.1:5",
        "fulmar1/" + secret.substr(1) + "g/10.0.0.1:5", std::string(2000, 'x')}) {
    const auto parsed = parse_port_name(text);
    ASSERT_TRUE(parsed.failed()) << text;
    EXPECT_EQ(parsed.error().error_class(), base::ErrorClass::port);
    EXPECT_EQ(parsed.error().text().find("112233"), std::string::npos);
  }
}

TEST(PortHandshake, Messages_come_back_as_they_were) {
  PortHello hello;
  hello.nonce[0] = std::byte{1};
  hello.nonce[31] = std::byte{2};
  const auto bytes = encode_port_hello(hello);
  EXPECT_EQ(decode_port_hello(bytes), hello);
  EXPECT_TRUE(begins_port_hello(bytes));
  EXPECT_FALSE(decode_port_hello(std::span(bytes).first(39)));
  PortChallenge challenge;
  challenge.nonce[3] = std::byte{4};
  challenge.mac[5] = std::byte{6};
  const auto answer = encode_port_challenge(challenge);
  EXPECT_EQ(decode_port_challenge(answer), challenge);
  EXPECT_FALSE(begins_port_hello(answer));
  EXPECT_FALSE(decode_port_hello(std::span(answer).first(port_hello_bytes)));
}

TEST(PortHandshake, No_step_proves_what_another_one_does) {
  const PortNonce one{std::byte{1}};
  const PortNonce other{std::byte{2}};
  EXPECT_NE(port_transcript(PortStep::challenge, one, other),
            port_transcript(PortStep::proof, one, other));
  EXPECT_NE(port_transcript(PortStep::proof, one, other),
            port_transcript(PortStep::proof, other, one));
  EXPECT_NE(port_pad_text(0, 1), port_pad_text(1, 0));
}

std::vector<GroupMember> some_members() {
  return {{{7, 0, 0}, 3, 24, 32, 5, {std::byte{1}, std::byte{2}}},
          {{7, 2, 0}, 3, 40, 48, 0, {}},
          {{9, 1, 0}, 2, 24, 32, 1, std::vector<std::byte>(max_network_address_bytes)}};
}

HostTickets some_tickets() {
  HostTickets tickets{SharingWish::wanted, {{5, {}}, {6, {}}}};
  tickets.tickets[1].ticket.name[15] = 1;
  tickets.tickets[1].ticket.secret[31] = 2;
  tickets.tickets[1].ticket.bytes = 3;
  return tickets;
}

TEST(GroupExchange, Lists_come_back_as_they_were) {
  const auto members = decode_members(encode_members(some_members()));
  ASSERT_TRUE(members.ok()) << members.error().text();
  EXPECT_EQ(members.value(), some_members());
  base::Key key{};
  key[31] = 5;
  const std::vector<JobPairKey> some = {{1, 2, key}, {3, 4, {}}};
  const auto keys = decode_keys(encode_keys(some));
  ASSERT_TRUE(keys.ok()) << keys.error().text();
  EXPECT_EQ(keys.value(), some);
  const auto tickets = decode_tickets(encode_tickets(some_tickets()));
  ASSERT_TRUE(tickets.ok()) << tickets.error().text();
  EXPECT_EQ(tickets.value().wish, SharingWish::wanted);
  ASSERT_EQ(tickets.value().tickets.size(), 2U);
  const HostTicket& second = tickets.value().tickets[1];
  EXPECT_EQ(second.host, 6U);
  EXPECT_EQ(second.ticket.name[15], 1);
  EXPECT_EQ(second.ticket.secret[31], 2);
  EXPECT_EQ(second.ticket.bytes, 3U);
  const ExchangeVerdict verdict{7, "no"};
  EXPECT_EQ(decode_verdict(encode_verdict(verdict)).value(), verdict);
}

TEST(GroupExchange, Every_shorter_or_longer_list_is_refused) {
  const auto refuses = [](const auto& decode, std::vector<std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_TRUE(decode(std::span(bytes).first(i)).failed()) << i;
    }
    bytes.push_back({});
    EXPECT_TRUE(decode(bytes).failed());
  };
  refuses([](auto bytes) { return decode_members(bytes); }, encode_members(some_members()));
  refuses([](auto bytes) { return decode_keys(bytes); },
          encode_keys(std::vector<JobPairKey>{{1, 2, {}}}));
  refuses([](auto bytes) { return decode_tickets(bytes); }, encode_tickets(some_tickets()));
}

TEST(GroupExchange, Tickets_that_cannot_be_are_refused) {
  HostTickets twice = some_tickets();
  twice.tickets[1].host = twice.tickets[0].host;
  EXPECT_TRUE(decode_tickets(encode_tickets(twice)).failed());
  HostTickets nowhere = some_tickets();
  nowhere.tickets[0].host = 0;
  EXPECT_TRUE(decode_tickets(encode_tickets(nowhere)).failed());
  HostTickets wish = some_tickets();
  wish.wish = static_cast<SharingWish>(3);
  EXPECT_TRUE(decode_tickets(encode_tickets(wish)).failed());
}

TEST(GroupExchange, Members_that_cannot_be_are_refused) {
  const auto refused = [](void (*change)(std::vector<GroupMember>&)) {
    std::vector<GroupMember> members = some_members();
    change(members);
    return decode_members(encode_members(members)).failed();
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& all) { all.clear(); }));
  EXPECT_TRUE(refused([](auto& all) { all[0].name.job = 0; }));
  EXPECT_TRUE(refused([](auto& all) { all[0].name.engine = 1; }));
  EXPECT_TRUE(refused([](auto& all) { all[1].name.rank = 3; }));
  EXPECT_TRUE(refused([](auto& all) { all[1].name.rank = 0; }));
  EXPECT_TRUE(refused([](auto& all) { all[1].job_size = 4; }));
  EXPECT_TRUE(refused([](auto& all) { all[2].address.push_back({}); }));
}

TEST(GroupExchange, A_count_of_members_that_did_not_come_allocates_nothing) {
  auto bytes = encode_members(some_members());
  bytes[4] = std::byte{0xff};
  EXPECT_TRUE(decode_members(bytes).failed());
}

TEST(GroupExchange, A_text_moves_no_cursor) {
  const auto verdict = decode_verdict(encode_verdict({1, "a\x1b[2Jb\n"}));
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.value().text, "a[2Jb");
}

TEST(JoinGreeting, Says_how_long_the_name_is) {
  const auto bytes = encode_join_greeting("fulmar1/x");
  const auto header = std::span(bytes).first(join_greeting_header_bytes);
  EXPECT_EQ(join_greeting_length(header).value(), 9U);
  EXPECT_TRUE(join_greeting_length(std::span(bytes).first(5)).failed());
  for (const std::string_view text : {"GET / ", "FJN1\0\0", "FJN1\xff\xff"}) {
    const std::string six(text.data(), 6);
    EXPECT_TRUE(join_greeting_length(std::as_bytes(std::span(six))).failed()) << six;
  }
}

}  // namespace
}  // namespace fulmar::wire
