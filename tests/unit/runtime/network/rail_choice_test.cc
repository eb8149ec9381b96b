// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/rail_choice.h"

#include <gtest/gtest.h>

#include "fabric/tcp/connect/endpoint.h"

namespace fulmar::runtime {
namespace {

Nic nic(const char* interface, const char* address, std::uint32_t speed) {
  return {interface, *fabric::tcp::parse_address(address), speed};
}

std::vector<std::string> labels(const std::vector<RailPlan>& plans) {
  std::vector<std::string> found;
  for (const RailPlan& plan : plans) found.push_back(plan.place + "=" + plan.label);
  return found;
}
using Labels = std::vector<std::string>;

TEST(RailChoice, One_adapter_makes_no_rails) {
  EXPECT_TRUE(rails_over({}).empty());
  const Nic one[] = {nic("eth0", "10.0.0.1/24", 1000)};
  EXPECT_TRUE(rails_over(one).empty());
}

TEST(RailChoice, Adapters_in_subnets_of_their_own_are_rails_in_the_order_of_subnets) {
  const Nic two[] = {nic("eth1", "10.0.1.7/24", 1000), nic("eth0", "10.0.0.9/24", 1000)};
  EXPECT_EQ(labels(rails_over(two)), (Labels{"eth0=tcp", "eth1=tcp:10.0.1.0/24"}));
  EXPECT_EQ(rails_over(two)[1].bytes_per_second, 125e6);
}

TEST(RailChoice, Slow_and_unknown_adapters_are_left_out) {
  const Nic nics[] = {nic("a", "10.0.0.1/24", 10000), nic("b", "10.0.1.1/24", 2500),
                      nic("c", "10.0.2.1/24", 2499), nic("d", "10.0.3.1/24", 0)};
  EXPECT_EQ(labels(rails_over(nics)), (Labels{"a=tcp", "b=tcp:10.0.1.0/24"}));
}

TEST(RailChoice, Adapters_in_one_subnet_count_once) {
  const Nic nics[] = {nic("a", "10.0.0.1/16", 1000), nic("b", "10.0.255.1/16", 1000)};
  EXPECT_TRUE(rails_over(nics).empty());
}

TEST(RailChoice, No_more_than_four) {
  std::vector<Nic> nics;
  for (int i = 9; i >= 0; --i) {
    nics.push_back(nic("x", ("10.0." + std::to_string(i) + ".1/24").c_str(), 1000));
  }
  const auto plans = rails_over(nics);
  ASSERT_EQ(plans.size(), 4U);
  EXPECT_EQ(plans[3].label, "tcp:10.0.3.0/24");
}

TEST(RailChoice, Subnets_of_odd_lengths) {
  const Nic nics[] = {nic("a", "10.0.0.77/26", 1000), nic("b", "fd00:1::5/64", 1000)};
  EXPECT_EQ(labels(rails_over(nics)), (Labels{"a=tcp", "b=tcp:fd00:1::/64"}));
  const Nic others[] = {nic("a", "10.0.0.77/26", 1000), nic("b", "10.0.0.14/26", 1000)};
  EXPECT_EQ(labels(rails_over(others)), (Labels{"b=tcp", "a=tcp:10.0.0.64/26"}));
}

TEST(RailChoice, Lists) {
  auto plans = parse_rails("tcp:eth0+tcp:10.1.0.0/16+verbs:mlx5_0:1+ofi:tcp;ofi_rxm");
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(labels(*plans),
            (Labels{"eth0=tcp", "10.1.0.0/16=tcp#2", "mlx5_0:1=verbs", "tcp;ofi_rxm=ofi"}));
  plans = parse_rails("verbs+tcp");
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(labels(*plans), (Labels{"=verbs", "=tcp"}));
  EXPECT_EQ(parse_rails("tcp")->size(), 1U);
}

TEST(RailChoice, Nonsense_is_named) {
  for (const char* text : {"udp", "tcp+", "tcp++tcp", "verbs+verbs", "tcp,tcp", "shm+tcp", "+",
                           "tcp+tcp+tcp+tcp+tcp+tcp+tcp+tcp+tcp"}) {
    const auto plans = parse_rails(text);
    ASSERT_TRUE(plans.failed()) << text;
    EXPECT_NE(plans.error().text().find("FULMAR_RAILS: \""), std::string::npos);
  }
}

}  // namespace
}  // namespace fulmar::runtime
