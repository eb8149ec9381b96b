// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace {

/// Paths below this are of a Lustre file system, as its client tells it; files there have stripes of 4 MiB.
constexpr std::string_view lustre_folder = "/lustre-of-the-test";

bool is_lustre(const char* path) { return std::string_view(path).starts_with(lustre_folder); }

}  // namespace

extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
  if (!is_lustre(path)) return static_cast<int>(::syscall(SYS_statfs, path, facts));
  *facts = {};
  facts->f_type = 0x0bd00bd0;
  return 0;
}

extern "C" ssize_t getxattr(const char* path, const char* name, void* value,
                            std::size_t room) noexcept {
  if (!is_lustre(path)) return ::syscall(SYS_getxattr, path, name, value, room);
  const std::array<std::uint32_t, 8> layout{0x0bd10bd0, 1, 0, 0, 0, 0, 4 << 20, 8};
  if (std::string_view(path).ends_with("/unstriped") || room < sizeof layout) {
    errno = ENODATA;
    return -1;
  }
  std::memcpy(value, layout.data(), sizeof layout);
  return sizeof layout;
}

namespace fulmar::io {
namespace {

TEST(FileSystem, OfLustre_HasItsStripesForUnit) {
  const FileSystem system = file_system_of("/lustre-of-the-test/file");
  EXPECT_STREQ(system.name, "lustre");
  EXPECT_TRUE(system.remote);
  EXPECT_EQ(system.unit_bytes, 4 << 20);
  EXPECT_EQ(stripes_of("/lustre-of-the-test/file").count, 8);
}

TEST(FileSystem, OfLustreWithoutStripes_HasAUnitAllTheSame) {
  EXPECT_EQ(file_system_of("/lustre-of-the-test/unstriped").unit_bytes, 1 << 20);
  EXPECT_EQ(stripes_of("/lustre-of-the-test/unstriped").bytes, 0);
}

}  // namespace
}  // namespace fulmar::io
