// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "fabric/ofi/open.h"
#include "fabric/tcp/tcp.h"
#include "provider/ofi_real.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"

/// Bundles of different networks: tcp, and the real libfabric beside it.
namespace fulmar::fabric {
namespace {

using bundle::RailOwner;

constexpr unsigned patience = 4'000'000;
constexpr std::size_t tcp_rail = 0;
constexpr std::size_t ofi_rail = 1;

struct Mixed {
  struct Rank {
    Mixed* world = nullptr;
    std::unique_ptr<Bundle> bundle;
    std::vector<std::byte> address;
    RailOwner* seats[2] = {};
    std::vector<std::string> losses;
  };
  Rank ranks[2];
  PlacingSink sinks[2];

  Mixed() {
    for (std::uint32_t self = 0; self < 2; ++self) open(self);
  }
  void open(std::uint32_t self) {
    Rank& rank = ranks[self];
    rank.world = this;
    bundle::Config config;
    config.processes = one_job({42, self}, 2, {1});
    config.owner = &rank;
    config.find = [](void* owner, std::uint32_t peer) {
      return base::Result<std::vector<std::byte>>(
          static_cast<Rank*>(owner)->world->ranks[peer].address);
    };
    config.lost = [](void* owner, std::uint32_t, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back(why.text());
    };
    auto opened = Bundle::open(config);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    rank.bundle = std::move(*opened);
    add_tcp(rank, self);
    add_ofi(rank, self);
    auto address = rank.bundle->address();
    ASSERT_TRUE(address.ok()) << address.error().text();
    rank.address = std::move(*address);
  }
  static void add_tcp(Rank& rank, std::uint32_t self) {
    Tcp::Config config;
    config.connect.processes = one_job({42, self}, 2, {1});
    config.connect.interfaces = "lo";
    config.owner = rank.seats[tcp_rail] = &rank.bundle->next_owner();
    config.find = RailOwner::find;
    config.lost = RailOwner::lost;
    config.left = RailOwner::left;
    auto tcp = Tcp::open(config);
    ASSERT_TRUE(tcp.ok()) << tcp.error().text();
    ASSERT_TRUE(rank.bundle->add(std::move(*tcp), "tcp", 1e9).ok());
  }
  static void add_ofi(Rank& rank, std::uint32_t self) {
    ofi::Config config;
    config.processes = one_job({42, self}, 2, {1});
    config.owner = rank.seats[ofi_rail] = &rank.bundle->next_owner();
    config.find = RailOwner::find;
    config.lost = RailOwner::lost;
    auto ofi = Ofi::open(config, "tcp;ofi_rxm");
    ASSERT_TRUE(ofi.ok()) << ofi.error().text();
    ASSERT_TRUE(rank.bundle->add(std::move(*ofi), "ofi", 1e9).ok());
  }
  void poll() {
    for (std::size_t rank = 0; rank < 2; ++rank) ranks[rank].bundle->poll(sinks[rank]);
  }
  /// Rank 0 has lost the other one over this rail.
  void kill(std::size_t rail) {
    RailOwner::lost(ranks[0].seats[rail], 1,
                    base::failure(base::ErrorClass::other, "the test ends this rail"));
  }
  [[nodiscard]] auto stats() const { return ranks[0].bundle->pairs().stats_of(1); }
  [[nodiscard]] bool both_have_sent() const {
    const auto paths = stats();
    return paths.size() == 2 && paths[0].sent_bytes > 0 && paths[1].sent_bytes > 0;
  }
  /// libfabric takes some time to connect, in which tcp carries as much as it can.
  void carry_until_both_have_sent() {
    for (int i = 0; i < 100 && !both_have_sent(); ++i) carry(30'000'000, [](unsigned) {});
    ASSERT_TRUE(both_have_sent());
  }

  /// Carries a message from rank 0 to rank 1; `each` is called between the polls.
  template <class Each>
  void carry(std::size_t bytes, Each&& each) {
    Message message{1, pattern(bytes, 1)};
    message.packet_bytes = ranks[0].bundle->in_place_limit(1) - sizeof(Prefix);
    for (PlacingSink& sink : sinks) sink = PlacingSink();
    sinks[1].messages[1].resize(bytes);
    bool done = false;
    for (unsigned i = 0; i < patience && !done; ++i) {
      const bool posted = message.step(*ranks[0].bundle, 1);
      each(i);
      poll();
      done = posted && sinks[0].ended.size() == message.packets;
    }
    ASSERT_TRUE(done);
    EXPECT_EQ(sinks[1].messages[1], message.bytes);
    EXPECT_EQ(sinks[1].arrived[1], bytes);
    for (const auto& [token, how] : sinks[0].ended) EXPECT_EQ(how, Sent::done);
    EXPECT_TRUE(ranks[0].losses.empty() && ranks[1].losses.empty());
  }
};

class BundleOfi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = lacking_libfabric(); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(BundleOfi, Tcp_and_libfabric_carry_one_message) {
  Mixed two;
  two.carry_until_both_have_sent();
  EXPECT_FALSE(two.ranks[0].bundle->pairs().returns());
}

TEST_F(BundleOfi, Either_may_end_in_mid_message) {
  for (const std::size_t rail : {tcp_rail, ofi_rail}) {
    Mixed two;
    two.carry_until_both_have_sent();
    two.carry(30'000'000, [&](unsigned polls) {
      if (polls == 2) two.kill(rail);
    });
    for (unsigned i = 0; i < 100'000 && two.ranks[1].bundle->pairs().stats_of(0)[rail].is_up; ++i) {
      two.poll();
    }
    for (const auto& rank : two.ranks) {
      const std::uint32_t peer = &rank == &two.ranks[0] ? 1 : 0;
      EXPECT_FALSE(rank.bundle->pairs().stats_of(peer)[rail].is_up);
      EXPECT_TRUE(rank.bundle->pairs().stats_of(peer)[1 - rail].is_up);
    }
  }
}

}  // namespace
}  // namespace fulmar::fabric
