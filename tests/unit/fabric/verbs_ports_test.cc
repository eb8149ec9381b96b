// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "fabric/verbs/open.h"
#include "fabric/verbs/placement.h"
#include "fabric/verbs/ports.h"

namespace fulmar::fabric::verbs {
namespace {

using Kind = GidInfo::Kind;

Gid gid_of(std::initializer_list<unsigned> front, std::initializer_list<unsigned> back) {
  Gid gid{};
  std::size_t at = 0;
  for (const unsigned byte : front) gid[at++] = static_cast<std::byte>(byte);
  at = gid.size() - back.size();
  for (const unsigned byte : back) gid[at++] = static_cast<std::byte>(byte);
  return gid;
}
const Gid link_local = gid_of({0xfe, 0x80}, {1, 2});
const Gid global = gid_of({0x20, 1, 0xd, 0xb8}, {7});
const Gid v4 = gid_of({}, {0xff, 0xff, 10, 0, 0, 5});
const Gid v4_link_local = gid_of({}, {0xff, 0xff, 169, 254, 3, 4});

PortInfo ethernet(const char* device, std::vector<GidInfo> gids) {
  PortInfo port;
  port.device = device;
  port.up = true;
  port.megabits = 25'000;
  port.gids = std::move(gids);
  return port;
}
PortInfo infiniband(const char* device, std::uint16_t lid) {
  PortInfo port = ethernet(device, {{0, link_local, Kind::infiniband}});
  port.link = wire::VerbsLink::infiniband;
  port.lid = lid;
  return port;
}
unsigned index_of(const PortInfo& port) {
  const auto choice = choose_port({&port, 1}, "");
  if (choice.failed() || !choice.value().gid) return 99;
  return choice.value().gid->index;
}

/// Rings are for adapters whose order of bytes is known; soft-RoCE and soft-iWARP copy in any order.
TEST(VerbsPorts, Order_of_bytes_is_known_of_adapters_that_are_listed) {
  constexpr std::uint32_t mlx5 = 0x02c9;
  constexpr std::uint32_t soft_roce = 0xffffff;
  constexpr std::uint32_t soft_iwarp = 0x626d74;
  EXPECT_TRUE(places_in_order(mlx5));
  for (const std::uint32_t other : {0U, soft_roce, soft_iwarp})
    EXPECT_FALSE(places_in_order(other));
}

TEST(VerbsPorts, Address_of_ipv4_is_liked_best_on_ethernet) {
  const GidInfo a{0, link_local, Kind::roce_v1};
  const GidInfo b{1, link_local, Kind::roce_v2};
  const GidInfo c{2, v4, Kind::roce_v1};
  const GidInfo d{3, v4, Kind::roce_v2};
  const GidInfo e{4, global, Kind::roce_v2};
  const GidInfo f{5, v4_link_local, Kind::roce_v2};
  EXPECT_EQ(index_of(ethernet("a", {a, b, c, d, e, f})), 3U);
  EXPECT_EQ(index_of(ethernet("a", {f, e, c, b, a})), 4U);
  EXPECT_EQ(index_of(ethernet("a", {a, b, c, f})), 5U);
  EXPECT_EQ(index_of(ethernet("a", {a, b, c})), 1U);
  EXPECT_EQ(index_of(ethernet("a", {a, c})), 0U);                       // better than none
  EXPECT_EQ(index_of(ethernet("a", {{6, v4, Kind::roce_v2}, d})), 6U);  // the first of equals
}

TEST(VerbsPorts, What_is_no_address_is_not_taken) {
  const PortInfo empty = ethernet("a", {{0, Gid{}, Kind::roce_v2}});
  const auto choice = choose_port({&empty, 1}, "");
  ASSERT_TRUE(choice.failed());
  EXPECT_NE(choice.error().text().find("a:1 (up, without an address)"), std::string::npos)
      << choice.error().text();
}

TEST(VerbsPorts, Infiniband_takes_the_lid_and_the_first_gid) {
  EXPECT_EQ(index_of(infiniband("a", 3)), 0U);
  PortInfo bare = infiniband("a", 3);
  bare.gids.clear();
  const auto choice = choose_port({&bare, 1}, "");
  ASSERT_TRUE(choice.ok());
  EXPECT_FALSE(choice.value().gid.has_value());
  bare.lid = 0;
  EXPECT_TRUE(choose_port({&bare, 1}, "").failed());
}

TEST(VerbsPorts, Fastest_one_that_is_up_is_used_and_the_first_of_equals) {
  std::vector<PortInfo> ports = {ethernet("a", {{0, v4, Kind::roce_v2}}), infiniband("b", 1),
                                 infiniband("c", 2), infiniband("d", 3)};
  ports[1].megabits = ports[2].megabits = 100'000;
  ports[3].megabits = 400'000;
  ports[3].up = false;
  ports[3].state = "down";
  EXPECT_EQ(choose_port(ports, "").value().port, 1U);
  ports[1].transport = "iWARP";
  EXPECT_EQ(choose_port(ports, "").value().port, 2U);
}

TEST(VerbsPorts, Wish_names_a_device_and_perhaps_a_port) {
  std::vector<PortInfo> ports = {infiniband("a", 1), infiniband("b", 2), infiniband("b", 3)};
  ports[2].port = 2;
  ports[2].megabits = 400'000;
  EXPECT_EQ(choose_port(ports, "a").value().port, 0U);
  EXPECT_EQ(choose_port(ports, "b").value().port, 2U);
  EXPECT_EQ(choose_port(ports, "b:1").value().port, 1U);
  for (const char* wrong : {"b:", "b:x", "b:0", "b:1x", ":1", "b:-1", "b:99999999999"}) {
    const auto choice = choose_port(ports, wrong);
    ASSERT_TRUE(choice.failed()) << wrong;
    EXPECT_NE(choice.error().text().find("mlx5_0:1"), std::string::npos) << choice.error().text();
  }
  const auto unknown = choose_port(ports, "c");
  ASSERT_TRUE(unknown.failed());
  EXPECT_EQ(unknown.error().error_class(), base::ErrorClass::arg);
  EXPECT_NE(unknown.error().text().find("no such device; there are: a:1 (up), b:1 (up), b:2 (up)"),
            std::string::npos)
      << unknown.error().text();
  ports[0].up = false;
  ports[0].state = "waiting for a subnet manager";
  const auto down = choose_port(ports, "a:1");
  ASSERT_TRUE(down.failed());
  EXPECT_NE(down.error().text().find("a:1 (waiting for a subnet manager)"), std::string::npos);
}

TEST(VerbsPorts, Without_any_the_error_says_so) {
  const auto choice = choose_port({}, "");
  ASSERT_TRUE(choice.failed());
  EXPECT_NE(choice.error().text().find("there are: none"), std::string::npos);
}

TEST(VerbsOpen, Without_the_library_the_error_names_the_package) {
  Wish wish;
  wish.library = "libibverbs.so.none";
  const auto opened = open_adapter(wish);
  ASSERT_TRUE(opened.failed());
  const std::string text = opened.error().text();
  EXPECT_NE(text.find(is_built() ? "libibverbs1" : "libibverbs-dev"), std::string::npos) << text;
}

TEST(VerbsOpen, Unknown_device_is_an_error_that_lists_those_there_are) {
  if (!is_built()) GTEST_SKIP() << "built without libibverbs-dev";
  Wish wish;
  wish.device = "pigeon7";
  const auto opened = open_adapter(wish);
  ASSERT_TRUE(opened.failed());
  const std::string text = opened.error().text();
  EXPECT_NE(text.find("pigeon7"), std::string::npos) << text;
  EXPECT_NE(text.find("there are: "), std::string::npos) << text;
}

}  // namespace
}  // namespace fulmar::fabric::verbs
