// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/topology.h"

#include <gtest/gtest.h>

namespace fulmar::mpiexec {
namespace {

TEST(Topology, Cpu_max_is_rounded_up) {
  EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("-1\n 100000\n"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("200000 100000\n"), 2U);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 2U);
  EXPECT_EQ(parse_cpu_max("1000 100000\n"), 1U);
  EXPECT_EQ(parse_cpu_max("200000"), std::nullopt);
  EXPECT_EQ(parse_cpu_max("200000 0"), std::nullopt);
  EXPECT_EQ(parse_cpu_max(""), std::nullopt);
}

}  // namespace
}  // namespace fulmar::mpiexec
