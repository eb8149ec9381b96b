// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/study.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace fulmar::runtime {
namespace {

using study::Bypass;
using study::Design;
using study::Mover;

/// The options with these settings in the environment.
class Study : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name :
         {"FULMAR_CHANNEL", "FULMAR_STACK", "FULMAR_CHUNK_BYTES", "FULMAR_RDMA"}) {
      ::unsetenv(name);
    }
  }
  static Options with(const char* name, const char* value) {
    ::setenv(name, value, 1);
    std::vector<std::string> complaints;
    Options options(complaints);
    EXPECT_TRUE(complaints.empty());
    return options;
  }
};

TEST_F(Study, Nothing_is_studied_unless_asked_for) {
  EXPECT_FALSE(design_of(with("FULMAR_STACK", "auto")));
  EXPECT_FALSE(design_of(with("FULMAR_STACK", "adi3")));
  EXPECT_EQ(stack_of(with("FULMAR_STACK", "auto")), Stack::adi3);
}

TEST_F(Study, A_design_is_a_stream_without_bypass) {
  const Options options = with("FULMAR_CHANNEL", "basic");
  EXPECT_EQ(stack_of(options), Stack::channel);
  ASSERT_TRUE(design_of(options));
  EXPECT_EQ(design_of(options)->design, Design::basic);
  EXPECT_EQ(design_of(options)->bypass, Bypass::no);
  EXPECT_EQ(design_of(options)->chunk_bytes, 16U << 10);
}

TEST_F(Study, Stacks_choose_the_design_of_their_paper) {
  EXPECT_EQ(design_of(with("FULMAR_STACK", "channel"))->design, Design::zerocopy);
  const auto ch3 = design_of(with("FULMAR_STACK", "ch3"));
  ASSERT_TRUE(ch3);
  EXPECT_EQ(ch3->design, Design::piggyback);
  EXPECT_EQ(ch3->bypass, Bypass::yes);
}

TEST_F(Study, A_design_under_another_stack_stays) {
  ::setenv("FULMAR_CHANNEL", "pipeline", 1);
  const auto plan = design_of(with("FULMAR_STACK", "adi3"));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->design, Design::pipeline);
  EXPECT_EQ(plan->bypass, Bypass::yes);
}

TEST_F(Study, Put_lets_the_sender_write) {
  ::setenv("FULMAR_CHANNEL", "zerocopy", 1);
  EXPECT_EQ(design_of(with("FULMAR_RDMA", "put"))->mover, Mover::sender_writes);
  EXPECT_EQ(design_of(with("FULMAR_RDMA", "auto"))->mover, Mover::receiver_reads);
}

TEST_F(Study, Chunks_are_read_as_sizes) {
  ::setenv("FULMAR_CHANNEL", "pipeline", 1);
  EXPECT_EQ(design_of(with("FULMAR_CHUNK_BYTES", "4K"))->chunk_bytes, 4096U);
  EXPECT_EQ(design_of(with("FULMAR_CHUNK_BYTES", "100G"))->chunk_bytes, 1U << 30);
}

}  // namespace
}  // namespace fulmar::runtime
