// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/routes.h"

#include <gtest/gtest.h>
#include <net/if.h>

namespace fulmar::fabric::tcp {
namespace {

using wire::AddressKind;

constexpr unsigned up = IFF_UP | IFF_RUNNING;

LocalAddress local(const char* interface, const char* address, unsigned flags = up,
                   std::uint32_t scope = 1) {
  LocalAddress local;
  local.address = parse_address(address).value();
  local.interface = interface;
  local.address.kind = kind_of(interface, flags, local.address);
  local.address.scope = scope;
  return local;
}

wire::HostIdentity host(std::uint8_t number) {
  wire::HostIdentity host;
  host.boot.fill(number);
  host.network = number;
  return host;
}

wire::TcpAddresses peer(wire::HostIdentity host, const std::vector<LocalAddress>& addresses) {
  wire::TcpAddresses peer{host, {}};
  for (const LocalAddress& local : addresses) {
    peer.list.push_back(local.address);
    peer.list.back().port = 80;
  }
  return peer;
}

std::vector<std::string> texts(const Ways& ways) {
  std::vector<std::string> texts;
  for (const Way& way : ways.list) texts.push_back(way.to.text());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Ways, The_loopback_leads_to_the_own_host_only) {
  const std::vector<LocalAddress> here = {local("eth0", "10.0.0.1/24"),
                                          local("lo", "127.0.0.1/8", up | IFF_LOOPBACK)};
  const Surroundings mine{host(1), here, here};
  EXPECT_EQ(texts(ways_to(peer(host(1), here), mine)), (Texts{"127.0.0.1:80", "10.0.0.1:80"}));
  const std::vector<LocalAddress> there = {local("eth0", "10.0.0.2/24"),
                                           local("lo", "127.0.0.1/8", up | IFF_LOOPBACK)};
  const Ways ways = ways_to(peer(host(2), there), mine);
  EXPECT_EQ(texts(ways), (Texts{"10.0.0.2:80"}));
  ASSERT_EQ(ways.left_out.size(), 1U);
  EXPECT_STREQ(ways.left_out[0].reason, "loopback of another host");
  // Another network name space of the same machine is another host.
  wire::HostIdentity container = host(1);
  container.network = 7;
  EXPECT_EQ(texts(ways_to(peer(container, there), mine)), (Texts{"10.0.0.2:80"}));
}

TEST(Ways, Where_the_system_tells_nothing_everything_is_tried) {
  const std::vector<LocalAddress> here = {local("eth0", "10.0.0.1/24"),
                                          local("lo", "127.0.0.1/8", up | IFF_LOOPBACK)};
  const Ways ways = ways_to(peer({}, here), {{}, here, here});
  EXPECT_EQ(texts(ways), (Texts{"10.0.0.1:80", "127.0.0.1:80"}));
}

TEST(Ways, A_common_subnet_comes_first_and_bridges_inside_hosts_last) {
  const std::vector<LocalAddress> here = {
      local("docker0", "172.17.0.1/16"), local("eth0", "10.0.0.1/24"),
      local("tun0", "10.8.0.6/24", up | IFF_POINTOPOINT), local("br-1234", "172.18.0.1/16")};
  const std::vector<LocalAddress> there = {local("docker0", "172.17.0.1/16"),
                                           local("br-99", "172.18.0.2/16"),
                                           local("eth2", "192.168.1.2/24"),
                                           local("eth3", "172.17.3.3/24"),
                                           local("tun0", "10.8.0.7/24", up | IFF_POINTOPOINT),
                                           local("eth1", "10.0.0.2/24"),
                                           local("wg0", "10.99.0.7/24", up | IFF_POINTOPOINT),
                                           local("eth9", "10.1.1.1/24", IFF_UP)};
  const Ways ways = ways_to(peer(host(2), there), {host(1), here, here});
  EXPECT_EQ(texts(ways), (Texts{"10.0.0.2:80", "10.8.0.7:80", "192.168.1.2:80", "172.17.3.3:80",
                                "10.99.0.7:80", "172.18.0.2:80", "10.1.1.1:80"}));
  ASSERT_EQ(ways.left_out.size(), 1U);
  EXPECT_EQ(ways.left_out[0].address, "172.17.0.1");
  EXPECT_STREQ(ways.left_out[0].reason, "this host has the same address");
}

TEST(Ways, IPv6_needs_IPv6_here) {
  const std::vector<LocalAddress> here = {local("eth0", "10.0.0.1/24")};
  const std::vector<LocalAddress> there = {local("eth0", "2001:db8::2/64")};
  const Ways ways = ways_to(peer(host(2), there), {host(1), here, here});
  EXPECT_TRUE(ways.list.empty());
  ASSERT_EQ(ways.left_out.size(), 1U);
  EXPECT_STREQ(ways.left_out[0].reason, "no IPv6 in use here");
}

TEST(Ways, A_link_local_address_is_tried_on_every_link) {
  const std::vector<LocalAddress> here = {local("lo", "::1/128", up | IFF_LOOPBACK, 1),
                                          local("eth0", "fe80::1/64", up, 2),
                                          local("eth1", "fe80::1/64", up, 3)};
  const std::vector<LocalAddress> there = {local("eth7", "fe80::7/64", up, 9)};
  EXPECT_EQ(ways_to(peer(host(2), there), {host(1), here, here}).list.size(), 2U);
  // On the same host its own number of the interface is the right one.
  EXPECT_EQ(ways_to(peer(host(1), there), {host(1), here, here}).list.size(), 1U);
}

TEST(Ways, Of_very_many_the_likeliest_are_kept) {
  std::vector<LocalAddress> here = {local("eth0", "10.0.0.1/24")};
  for (std::uint32_t i = 1; i <= 20; ++i) here.push_back(local("eth1", "fe80::1/64", up, i));
  std::vector<LocalAddress> there;
  for (int i = 0; i < 9; ++i) {
    const std::string address = "fe80::" + std::to_string(i + 7) + "/64";
    there.push_back(local("eth0", address.c_str(), up, 9));
    there.push_back(there.back());  // of a bridge and its port
  }
  there.push_back(local("eth0", "10.0.0.2/24"));
  const Ways ways = ways_to(peer(host(2), there), {host(1), here, here});
  EXPECT_EQ(ways.list.size(), max_ways);
  EXPECT_EQ(ways.list[0].to.text(), "10.0.0.2:80");
  EXPECT_EQ(ways.left_out.size(), 9 * 4 + 1 - max_ways);
}

TEST(Ways, Chosen_interfaces_give_the_address_to_leave_from) {
  const std::vector<LocalAddress> here = {local("eth1", "10.1.0.1/24")};
  const std::vector<LocalAddress> there = {local("eth0", "10.0.0.2/24"),
                                           local("eth1", "10.1.0.2/24")};
  const Ways ways = ways_to(peer(host(2), there), {host(1), here, here, Source::chosen});
  ASSERT_EQ(texts(ways), (Texts{"10.1.0.2:80", "10.0.0.2:80"}));
  ASSERT_TRUE(ways.list[0].from);
  EXPECT_EQ(ways.list[0].from->text(), "10.1.0.1:0");
  EXPECT_FALSE(ways.list[1].from);
}

TEST(Interfaces, Kinds_follow_from_flags_names_and_addresses) {
  const auto v4 = parse_address("10.0.0.1/24").value();
  EXPECT_EQ(kind_of("eth0", up, v4), AddressKind::ordinary);
  EXPECT_EQ(kind_of("eth0", IFF_UP, v4), AddressKind::idle);
  EXPECT_EQ(kind_of("docker0", up, v4), AddressKind::bridge);
  EXPECT_EQ(kind_of("br0", up, v4), AddressKind::ordinary);
  EXPECT_EQ(kind_of("wg0", up, v4), AddressKind::tunnel);
  EXPECT_EQ(kind_of("x", up | IFF_POINTOPOINT, v4), AddressKind::tunnel);
  EXPECT_EQ(kind_of("lo", up | IFF_LOOPBACK, v4), AddressKind::loopback);
  EXPECT_EQ(kind_of("eth0", up, parse_address("169.254.1.1").value()), AddressKind::link_local);
  EXPECT_EQ(kind_of("eth0", up, parse_address("fe80::1").value()), AddressKind::link_local);
  EXPECT_EQ(kind_of("docker0", up, parse_address("fe80::1").value()), AddressKind::bridge);
  EXPECT_EQ(kind_of("eth0", up, parse_address("fec0::1").value()), AddressKind::ordinary);
}

TEST(Interfaces, Choice_takes_and_leaves) {
  struct Case {
    const char* text;
    bool eth0, eth1, ib0, docker0;
  };
  for (const Case& one : {Case{"auto", true, true, true, true},
                          {"", true, true, true, true},
                          {"eth0", true, false, false, false},
                          {"eth*", true, true, false, false},
                          {"^docker0", true, true, true, false},
                          {"eth*, ^eth1", true, false, false, false},
                          {"10.1.0.0/16,ib0", false, true, true, false},
                          {"^172.16.0.0/12,^10.0.0.1", false, true, true, false},
                          {"10.0.0.1", true, false, false, false}}) {
    const auto choice = InterfaceChoice::parse(one.text);
    ASSERT_TRUE(choice.ok()) << one.text;
    EXPECT_EQ(choice.value().takes(local("eth0", "10.0.0.1/24")), one.eth0) << one.text;
    EXPECT_EQ(choice.value().takes(local("eth1", "10.1.0.1/24")), one.eth1) << one.text;
    EXPECT_EQ(choice.value().takes(local("ib0", "192.168.0.1/24")), one.ib0) << one.text;
    EXPECT_EQ(choice.value().takes(local("docker0", "172.17.0.1/16")), one.docker0) << one.text;
  }
}

TEST(Interfaces, What_is_no_choice_is_named) {
  for (const char* text : {"10.0.0.0/33", "10.0.0/8", "^", "eth0,a b", "10.0.0.0/x", "^^eth0"}) {
    const auto choice = InterfaceChoice::parse(text);
    ASSERT_TRUE(choice.failed()) << text;
    EXPECT_NE(choice.error().text().find("FULMAR_TCP_INTERFACES"), std::string::npos);
  }
}

TEST(Interfaces, This_host_has_addresses_and_an_identity) {
  const auto addresses = local_addresses();
  ASSERT_TRUE(addresses.ok());
  EXPECT_FALSE(addresses.value().empty());
  EXPECT_TRUE(host_identity().known());
  EXPECT_EQ(host_identity(), host_identity());
}

TEST(Endpoint, Subnets_are_compared_bit_by_bit) {
  const auto subnet = parse_address("10.1.2.128/25").value();
  EXPECT_TRUE(in_subnet(subnet, parse_address("10.1.2.200").value()));
  EXPECT_FALSE(in_subnet(subnet, parse_address("10.1.2.127").value()));
  EXPECT_FALSE(in_subnet(subnet, parse_address("a01:2c8::").value()));
  EXPECT_TRUE(in_subnet(parse_address("0.0.0.0/0").value(), parse_address("1.2.3.4").value()));
  EXPECT_FALSE(in_subnet(parse_address("::1").value(), parse_address("::2").value()));
}

TEST(Endpoint, Texts) {
  EXPECT_EQ(Endpoint::of(parse_address("10.0.0.1").value(), 80, 0).text(), "10.0.0.1:80");
  EXPECT_EQ(Endpoint::of(parse_address("2001:db8::1").value(), 80, 0).text(), "[2001:db8::1]:80");
  EXPECT_EQ(Endpoint::of(parse_address("fe80::1").value(), 80, ::if_nametoindex("lo")).text(),
            "[fe80::1%lo]:80");
}

}  // namespace
}  // namespace fulmar::fabric::tcp
