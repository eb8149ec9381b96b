// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/hosts.h"

#include <gtest/gtest.h>

#include <random>

namespace fulmar::mpiexec {
namespace {

using Hosts = std::vector<Host>;
using Shares = std::vector<Share>;

Hosts list(const char* text) {
  const auto hosts = parse_host_list("-host", text);
  EXPECT_TRUE(hosts.ok()) << text << ": " << hosts.error().text();
  return hosts.ok() ? hosts.value() : Hosts{};
}

Hosts file(const char* text) {
  const auto hosts = parse_host_file("hosts", text);
  EXPECT_TRUE(hosts.ok()) << text << ": " << hosts.error().text();
  return hosts.ok() ? hosts.value() : Hosts{};
}

TEST(Hosts, Numbers_are_places_and_1_is_the_default) {
  EXPECT_EQ(list("a"), (Hosts{{"a", 1}}));
  EXPECT_EQ(list("a,b:4,me@c.example"), (Hosts{{"a", 1}, {"b", 4}, {"me@c.example", 1}}));
}

TEST(Hosts, A_name_again_gives_places_more) {
  EXPECT_EQ(list("a,b,a"), (Hosts{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(list("a:2,a:3"), (Hosts{{"a", 5}}));
  EXPECT_EQ(list("a:65536,a:65536"), (Hosts{{"a", 65536}}));
}

TEST(Hosts, Brackets_are_ranges) {
  EXPECT_EQ(list("n[1-3]"), (Hosts{{"n1", 1}, {"n2", 1}, {"n3", 1}}));
  EXPECT_EQ(list("n[08-10,2]-x:2,b"),
            (Hosts{{"n08-x", 2}, {"n09-x", 2}, {"n10-x", 2}, {"n2-x", 2}, {"b", 1}}));
}

TEST(Hosts, Addresses_of_both_families) {
  EXPECT_EQ(list("10.0.0.1:2"), (Hosts{{"10.0.0.1", 2}}));
  EXPECT_EQ(list("fe80::1,[::1]:4,[::2]"), (Hosts{{"fe80::1", 1}, {"::1", 4}, {"::2", 1}}));
}

TEST(Hosts, What_is_no_host_is_named) {
  for (const char* text : {"", ",", "a:", "a:0", "a:x", "a:70000", "a b", "-n", "n[1", "n[3-1]",
                           "n[]", "n[1-]", "[::1", "[::1]x", "[::1]:", "a;b", "n[1-99999999]"}) {
    const auto hosts = parse_host_list("-host", text);
    ASSERT_TRUE(hosts.failed()) << text;
    EXPECT_TRUE(hosts.error().text().starts_with("-host: \"")) << hosts.error().text();
  }
}

TEST(Hosts, A_file_has_a_host_a_line) {
  EXPECT_EQ(file("# all of them\n\n a \nb:2 # two\n\tc slots=3 max_slots=4\r\nb\nd[1-2]:2"),
            (Hosts{{"a", 1}, {"b", 3}, {"c", 3}, {"d1", 2}, {"d2", 2}}));
  EXPECT_EQ(file("a:2 slots=5"), (Hosts{{"a", 5}}));
  EXPECT_EQ(file("a slots = 3\nb slots =2 max_slots= 4\nc port=22 slots= 5 # = 6"),
            (Hosts{{"a", 3}, {"b", 2}, {"c", 5}}));
}

TEST(Hosts, A_bad_line_of_a_file_is_named) {
  for (const char* text : {"a\nb slots=0", "a\nb slots=x", "a\nb what", "a\nb:0", "a\nb c:2",
                           "a\nb slots = ", "a\n= 2", "a\nb = 2"}) {
    const auto hosts = parse_host_file("hosts", text);
    ASSERT_TRUE(hosts.failed()) << text;
    EXPECT_NE(hosts.error().text().find("hosts:2"), std::string::npos) << hosts.error().text();
  }
  EXPECT_NE(parse_host_file("hosts", "# none\n").error().text().find("names no host"),
            std::string::npos);
  EXPECT_NE(read_host_file("/no/such/file").error().text().find("/no/such/file"),
            std::string::npos);
}

TEST(Hosts, Random_text_is_read_or_refused) {
  constexpr std::string_view letters = "ab1-09:[],.# \n=slots";
  std::mt19937 random(815);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = random() % 16; i > 0; --i) text += letters[random() % letters.size()];
    const auto from_list = parse_host_list("-host", text);
    const auto from_file = parse_host_file("hosts", text);
    EXPECT_TRUE(from_list.failed() || !from_list.value().empty()) << text;
    EXPECT_TRUE(from_file.failed() || places_of(from_file.value()) >= from_file.value().size());
  }
}

TEST(Hosts, Filling_takes_all_places_and_begins_again) {
  const Hosts hosts = {{"a", 2}, {"b", 1}};
  EXPECT_EQ(share_ranks(hosts, 1, Dealing::fill), (Shares{{"a", 1}}));
  EXPECT_EQ(share_ranks(hosts, 3, Dealing::fill), (Shares{{"a", 2}, {"b", 1}}));
  EXPECT_EQ(share_ranks(hosts, 7, Dealing::fill), (Shares{{"a", 5}, {"b", 2}}));
}

TEST(Hosts, In_turn_each_host_gets_one) {
  const Hosts hosts = {{"a", 4}, {"b", 1}};
  EXPECT_EQ(share_ranks(hosts, 1, Dealing::in_turn), (Shares{{"a", 1}}));
  EXPECT_EQ(share_ranks(hosts, 5, Dealing::in_turn), (Shares{{"a", 3}, {"b", 2}}));
}

TEST(Hosts, This_machine_has_several_names) {
  for (const char* name : {"localhost", "127.0.0.1", "node0", "node0.example.org", "me@node0"}) {
    EXPECT_TRUE(is_this_machine(name, "node0")) << name;
  }
  EXPECT_TRUE(is_this_machine("node0", "node0.example.org"));
  for (const char* name : {"node1", "node01", "node0.example.com", "203.0.113.7", "2001:db8::7"}) {
    EXPECT_FALSE(is_this_machine(name, "node0.example.org")) << name;
  }
  EXPECT_FALSE(is_this_machine("node0", ""));
}

}  // namespace
}  // namespace fulmar::mpiexec
