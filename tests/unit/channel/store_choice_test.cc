// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "channel/store_choice.h"

#include <gtest/gtest.h>

namespace fulmar::channel {
namespace {

using base::StoreKind;

constexpr std::size_t body_bytes = 16U << 10;

/// Cores between which stores through the cache take so many picoseconds a byte.
class Cores {
 public:
  explicit Cores(std::uint64_t ps_per_byte) : ps_per_byte_(ps_per_byte) {}
  void move(std::uint64_t ps_per_byte) { ps_per_byte_ = ps_per_byte; }

  /// How many of `bodies` bodies were written past the cache.
  int write(StoreChoice& choice, int bodies) {
    int past = 0;
    for (int i = 0; i < bodies; ++i) {
      choice.write(
          body_bytes,
          [&](StoreKind stores) {
            const bool non_temporal = stores == StoreKind::non_temporal;
            past += non_temporal ? 1 : 0;
            now_ += body_bytes * (non_temporal ? 100 : ps_per_byte_) / 1000;
          },
          [&] { return now_; });
    }
    return past;
  }

 private:
  std::uint64_t ps_per_byte_;
  std::uint64_t now_ = 0;
};

constexpr std::uint64_t near = 80;
constexpr std::uint64_t far = 480;

TEST(StoreChoice, Near_cores_share_their_caches) {
  StoreChoice choice;
  EXPECT_EQ(Cores(near).write(choice, 10000), 0);
}

TEST(StoreChoice, Far_ones_are_noticed_within_twenty_bodies) {
  StoreChoice choice;
  Cores cores(near);
  cores.write(choice, 1000);
  cores.move(far);
  cores.write(choice, 20);
  EXPECT_EQ(choice.stores(), StoreKind::non_temporal);
}

TEST(StoreChoice, Trials_become_rare) {
  StoreChoice choice;
  Cores cores(far);
  cores.write(choice, 2000);
  EXPECT_GE(cores.write(choice, 10240), 10240 - 10240 / 512 - 1);
}

TEST(StoreChoice, Cores_that_are_near_again_are_noticed) {
  StoreChoice choice;
  Cores cores(far);
  cores.write(choice, 5000);
  cores.move(near);
  cores.write(choice, 600);
  EXPECT_EQ(choice.stores(), base::stores_to_shared());
  EXPECT_EQ(cores.write(choice, 5000), 0);
}

TEST(StoreChoice, Either_way_through_the_cache_is_left_and_comes_back) {
  for (const StoreKind through : {StoreKind::cached, StoreKind::string}) {
    StoreChoice choice(through);
    EXPECT_EQ(choice.stores(), through);
    Cores cores(far);
    cores.write(choice, 100);
    EXPECT_EQ(choice.stores(), StoreKind::non_temporal);
    cores.move(near);
    cores.write(choice, 1000);
    EXPECT_EQ(choice.stores(), through);
  }
}

TEST(StoreChoice, One_slow_body_says_nothing) {
  StoreChoice choice;
  Cores cores(near);
  for (int i = 0; i < 100; ++i) {
    cores.move(i % 3 == 0 ? far : near);
    cores.write(choice, i % 3 == 0 ? 2 : 16);
    EXPECT_EQ(choice.stores(), base::stores_to_shared()) << i;
  }
}

TEST(StoreChoice, What_is_slow) {
  EXPECT_FALSE(StoreChoice::is_slow(1024, 250));
  EXPECT_TRUE(StoreChoice::is_slow(1024, 1000));
  EXPECT_FALSE(StoreChoice::is_slow(4096, 500));
  EXPECT_TRUE(StoreChoice::is_slow(4096, 1500));
  EXPECT_FALSE(StoreChoice::is_slow(65536, 10000));
  EXPECT_TRUE(StoreChoice::is_slow(65536, 30000));
}

}  // namespace
}  // namespace fulmar::channel
