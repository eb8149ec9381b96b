// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "provider/ofi_net.h"
#include "provider/tcp_net.h"
#include "provider/verbs_net.h"
#include "support/heap.h"

/// What a network keeps for ranks that nobody has talked to: a pointer each, and several networks
/// together one more. What is above it is counted in tests/simulated: 16 bytes; all are to stay
/// below 64.
namespace fulmar::fabric {
namespace {

constexpr std::uint32_t few = 64;
constexpr std::uint32_t many = 4096;
constexpr std::size_t most_bytes_per_peer = 16;

/// `growth(size)` opens the network of rank 0 of a job of `size` and gives the bytes that took.
void expect_small(const char* name, const std::function<std::size_t(std::uint32_t)>& growth,
                  std::size_t most = most_bytes_per_peer) {
  if (!heap::is_counted()) GTEST_SKIP() << "the allocator of this build does not tell its size";
  (void)growth(few);  // what is allocated once
  const std::size_t base = growth(few);
  const std::size_t all = growth(many);
  const double each = static_cast<double>(all - base) / (many - few);
  std::printf("%s: %zu bytes with %u ranks, %.1f for each further silent one\n", name, base, few,
              each);
  EXPECT_GE(all, base + (many - few) * 4);  // else nothing was counted
  EXPECT_LE(all, base + (many - few) * most);
}

TEST(SilentPeers, Cost_tcp_a_pointer) {
  expect_small("tcp", [](std::uint32_t size) {
    const std::size_t before = heap::bytes_in_use();
    Tcp::Config config;
    config.connect.processes = one_job({1, 0}, size);
    config.connect.interfaces = "127.0.0.1";
    const auto tcp = Tcp::open(config);
    EXPECT_TRUE(tcp.ok()) << tcp.error().text();
    return heap::bytes_in_use() - before;
  });
}

/// As many rails as are ever used without being asked for.
TEST(SilentPeers, Cost_rails_a_pointer_each_and_one_more) {
  constexpr std::size_t rails = 4;
  constexpr std::size_t most = 48;
  expect_small(
      "rails",
      [](std::uint32_t size) {
        const std::size_t before = heap::bytes_in_use();
        bundle::Config config;
        config.processes = one_job({1, 0}, size);
        const auto bundle = Bundle::open(config);
        EXPECT_TRUE(bundle.ok()) << bundle.error().text();
        for (std::size_t rail = 0; rail < rails; ++rail) {
          Tcp::Config below;
          below.connect.processes = config.processes;
          below.connect.interfaces = "127.0.0.1";
          below.owner = &bundle.value()->next_owner();
          auto tcp = Tcp::open(below);
          EXPECT_TRUE(tcp.ok()) << tcp.error().text();
          EXPECT_TRUE(
              bundle.value()->add(std::move(*tcp), "tcp:" + std::to_string(rail), 1e9).ok());
        }
        return heap::bytes_in_use() - before;
      },
      most);
}

TEST(SilentPeers, Cost_ofi_a_pointer) {
  OfiNet net(1);
  expect_small("ofi", [&](std::uint32_t size) {
    const std::size_t before = heap::bytes_in_use();
    const auto ofi =
        Ofi::open_over(net.config(0, size), std::make_unique<OfiStandIn>(net.wires, 0));
    EXPECT_TRUE(ofi.ok());
    return heap::bytes_in_use() - before;
  });
}

TEST(SilentPeers, Cost_verbs_a_pointer) {
  VerbsNet net(1);
  expect_small("verbs", [&](std::uint32_t size) {
    const std::size_t before = heap::bytes_in_use();
    const auto verbs =
        Verbs::open_over(net.config(0, size), std::make_unique<VerbsStandIn>(net.wires, 0),
                         std::make_unique<VerbsNet::Meeting>(net, 0));
    EXPECT_TRUE(verbs.ok());
    return heap::bytes_in_use() - before;
  });
}

}  // namespace
}  // namespace fulmar::fabric
