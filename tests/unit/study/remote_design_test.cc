// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/remote_design.h"

#include <gtest/gtest.h>

#include <string>

#include "fabric/fake/fake.h"

/// A design over a network, as a network: what it adds to the channel, which designs_test.cc tests.
namespace fulmar::study {
namespace {

using fabric::Post;

/// A port that tells when it was left.
class Port final : public fabric::Fake {
 public:
  using Fake::Fake;
  void leave(fabric::Leaving how) override {
    ++leaves;
    last_how = how;
  }
  [[nodiscard]] bool quiesced() const noexcept override { return leaves != 0; }
  unsigned leaves = 0;
  fabric::Leaving last_how = fabric::Leaving::may_return;
};

class OverFake : public testing::Test {
 protected:
  OverFake() { network_.memory().turn_on(); }

  Post send() { return zero_.post(1, {wire::PacketKind::eager, 0, 0, 1, 0}, {}); }
  void step() {
    fabric::NullSink sink;
    zero_.poll(sink);
    one_.poll(sink);
  }

  static constexpr DesignPlan plan{Design::piggyback, Mover::receiver_reads, Bypass::no, 4096};
  fabric::FakeNetwork network_{2};
  Port port_{network_, 0};
  Port other_{network_, 1};
  RemoteDesign<Port> zero_{port_, plan};
  RemoteDesign<Port> one_{other_, plan};
};

TEST_F(OverFake, Attributes_are_those_of_the_design) {
  EXPECT_STREQ(zero_.name(), "fake");
  EXPECT_EQ(zero_.body_limit(1), plan.chunk_bytes);
  EXPECT_TRUE(zero_.sends_in_place());
  EXPECT_EQ(zero_.attributes().rdma_bytes, fabric::Fake::max_remote_bytes);
}

/// The first packet needs a pipe, of which the peer has to be told; that finds no room. Expect: the
/// network is not left before it has.
TEST_F(OverFake, Network_is_left_when_all_is_on_its_way) {
  network_.refuse_posts(UINT32_MAX);
  (void)send();
  zero_.leave(fabric::Leaving::for_good);
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(port_.leaves, 0U);
  EXPECT_FALSE(zero_.quiesced());
  network_.refuse_posts(0);
  for (int i = 0; i < 1000 && !zero_.quiesced(); ++i) step();
  EXPECT_TRUE(zero_.quiesced());
  EXPECT_EQ(port_.leaves, 1U);
  EXPECT_EQ(port_.last_how, fabric::Leaving::for_good);
}

TEST_F(OverFake, Network_is_left_at_once_where_nothing_waits) {
  zero_.leave(fabric::Leaving::may_return);
  EXPECT_EQ(port_.leaves, 1U);
  EXPECT_TRUE(zero_.quiesced());
}

TEST_F(OverFake, Cannot_be_entered_again_and_says_what_to_do) {
  const base::Error error = zero_.resume();
  ASSERT_TRUE(error.failed());
  EXPECT_NE(error.text().find("FULMAR_CHANNEL"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::study
