// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/striping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/posix_file.h"

// The calls of the system by which the client of Lustre is spoken to, as this program has them: paths below
// this folder are of a file system of it. Files there have stripes of 4 MiB over 8 servers.

namespace {

constexpr std::string_view folder = "/lustre-of-the-test";

/// What was wished for the file that was made last.
struct Wish {
  std::uint32_t stripe_bytes = 0;
  std::uint16_t stripe_count = 0;
  std::uint16_t first_server = 0;
  int open_flags = 0;
  bool refused = false;  ///< the next one will be
};
Wish wish;

bool is_lustre_path(const char* path) { return std::string_view(path).starts_with(folder); }

}  // namespace

extern "C" int statfs(const char* path, struct statfs* facts) noexcept {
  if (!is_lustre_path(path)) return static_cast<int>(::syscall(SYS_statfs, path, facts));
  *facts = {};
  facts->f_type = 0x0bd00bd0;
  return 0;
}

extern "C" ssize_t getxattr(const char* path, const char* name, void* value,
                            std::size_t room) noexcept {
  if (!is_lustre_path(path)) return ::syscall(SYS_getxattr, path, name, value, room);
  const std::array<std::uint32_t, 8> layout{0x0bd10bd0, 1, 0, 0, 0, 0, 4 << 20, 8};
  if (std::string_view(path).ends_with("/unstriped") || room < sizeof layout) {
    errno = ENODATA;
    return -1;
  }
  std::memcpy(value, layout.data(), sizeof layout);
  return sizeof layout;
}

extern "C" int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const auto permissions = (flags & O_CREAT) != 0 ? va_arg(rest, unsigned) : 0U;
  va_end(rest);
  if (!is_lustre_path(path)) {
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, permissions));
  }
  if ((flags & O_EXCL) != 0 && std::string_view(path).ends_with("/there")) {
    errno = EEXIST;
    return -1;
  }
  wish.open_flags = flags;
  return ::memfd_create("a file of Lustre", 0);
}

extern "C" int ioctl(int file, unsigned long request, ...) noexcept {
  std::va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (request != _IOW('f', 154, long)) {
    return static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
  }
  if (wish.refused) {
    errno = EINVAL;
    return -1;
  }
  const auto* const bytes = static_cast<const std::byte*>(argument);
  std::uint32_t magic = 0;
  std::memcpy(&magic, bytes, 4);
  EXPECT_EQ(magic, 0x0bd10bd0U);
  std::memcpy(&wish.stripe_bytes, bytes + 24, 4);
  std::memcpy(&wish.stripe_count, bytes + 28, 2);
  std::memcpy(&wish.first_server, bytes + 30, 2);
  return 0;
}

namespace fulmar::io {
namespace {

constexpr int make = O_RDWR | O_CREAT;

TEST(Stripes, OfAFile_AreRead) {
  EXPECT_EQ(stripes_of("/lustre-of-the-test/file").bytes, 4 << 20);
  EXPECT_EQ(stripes_of("/lustre-of-the-test/file").count, 8);
  EXPECT_FALSE(stripes_of("/lustre-of-the-test/unstriped").given());
}

TEST(Stripes, OfANewFile_AreWhatIsWished) {
  wish = {};
  EXPECT_TRUE(PosixFile::open("/lustre-of-the-test/new", make | O_EXCL, 0600, {1 << 20, 16}).ok());
  EXPECT_EQ(wish.stripe_bytes, 1U << 20);
  EXPECT_EQ(wish.stripe_count, 16);
  EXPECT_EQ(wish.first_server, 0xffff) << "Lustre chooses";
  EXPECT_NE(wish.open_flags & (0100000000 | O_NOCTTY | FASYNC), 0) << "servers are chosen later";
  EXPECT_NE(wish.open_flags & O_CLOEXEC, 0);
}

TEST(Stripes, MultiplesOf64KiB_AreAskedFor) {
  wish = {};
  EXPECT_TRUE(
      PosixFile::open("/lustre-of-the-test/new", make, 0600, {70000, Stripes::all_servers}).ok());
  EXPECT_EQ(wish.stripe_bytes, 2U << 16);
  EXPECT_EQ(wish.stripe_count, 0xffff);
}

TEST(Stripes, ThatAreRefused_LeaveAFileLikeAnyOther) {
  wish = {};
  wish.refused = true;
  EXPECT_TRUE(PosixFile::open("/lustre-of-the-test/new", make, 0600, {0, 3}).ok());
}

TEST(Stripes, OfAFileThatExists_StayAsTheyAre) {
  wish = {};
  EXPECT_TRUE(PosixFile::open("/lustre-of-the-test/there", make, 0600, {0, 3}).ok());
  EXPECT_EQ(wish.stripe_count, 0);
  EXPECT_EQ(PosixFile::open("/lustre-of-the-test/there", make | O_EXCL, 0600, {0, 3})
                .error()
                .error_class(),
            base::ErrorClass::file_exists);
}

TEST(Stripes, OfOtherFileSystems_AreNoMatter) {
  wish = {};
  EXPECT_FALSE(make_striped("/tmp/fulmar-not-made", O_RDWR, 0600, {0, 3}).valid());
  EXPECT_NE(::access("/tmp/fulmar-not-made", F_OK), 0);
  EXPECT_FALSE(make_striped("/lustre-of-the-test/there", O_RDWR, 0600, {0, 3}).valid());
}

}  // namespace
}  // namespace fulmar::io
