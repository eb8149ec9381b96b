// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/memory_opener.h"

#include <gtest/gtest.h>

#include <vector>

#include "fabric/fake/fake.h"

namespace fulmar::device {
namespace {

using fabric::Access;

class Opening : public ::testing::Test {
 protected:
  Opening() : network(2), port(network, 0), memory(1000) { network.memory().turn_on(); }
  bool opens(std::size_t bytes) {
    const auto opened = opener.take(port, std::span(memory).first(bytes), Access::local);
    if (opened.ok()) opener.give_back(port, opened.value());
    return opened.ok();
  }
  [[nodiscard]] std::uint64_t opened() { return network.memory().counters().opened; }

  fabric::FakeNetwork network;
  fabric::Fake port;
  std::vector<std::byte> memory;
  MemoryOpener opener;
};

TEST_F(Opening, Nothing_stays_open) {
  EXPECT_TRUE(opens(1000));
  EXPECT_TRUE(opens(1000));
  EXPECT_EQ(opened(), 2U);
  EXPECT_EQ(network.memory().open_regions(), 0U);
}

/// The provider refuses once. Expect: it is not asked for as much the next time, but for less, and
/// then for as much again.
TEST_F(Opening, Refused_amount_is_left_alone_for_a_while) {
  network.memory().refuse_to_open(1);
  EXPECT_FALSE(opens(500));
  EXPECT_TRUE(opens(499));
  EXPECT_FALSE(opens(500));
  EXPECT_TRUE(opens(500));
  EXPECT_EQ(opened(), 2U);
}

TEST_F(Opening, Is_tried_ever_more_rarely_and_at_last_again) {
  network.memory().limit_open(600);
  unsigned failed = 0;
  for (unsigned i = 0; i < 2000; ++i) failed += opens(800) ? 0 : 1;
  EXPECT_EQ(failed, 2000U);
  network.memory().limit_open(1000);
  unsigned tries = 1;
  while (!opens(800) && tries < 1000) ++tries;
  EXPECT_LE(tries, 256U);
  EXPECT_TRUE(opens(800));
}

}  // namespace
}  // namespace fulmar::device
