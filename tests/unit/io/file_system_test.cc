// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/file_system.h"

#include <gtest/gtest.h>

namespace fulmar::io {
namespace {

TEST(FileSystem, OfLustre_HasItsStripesForUnit) {
  const FileSystem system = file_system_of("/lustre-of-the-test/file");
  EXPECT_STREQ(system.name, "lustre");
  EXPECT_TRUE(system.remote);
  EXPECT_EQ(system.unit_bytes, 4 << 20);
  EXPECT_EQ(system.stripe_count, 8);
}

TEST(FileSystem, OfLustreWithoutStripes_HasAUnitAllTheSame) {
  EXPECT_EQ(file_system_of("/lustre-of-the-test/unstriped").unit_bytes, 1 << 20);
  EXPECT_EQ(file_system_of("/lustre-of-the-test/unstriped").stripe_count, 0);
}

}  // namespace
}  // namespace fulmar::io
