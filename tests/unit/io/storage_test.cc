// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/storage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace fulmar::io {
namespace {

constexpr const char* mounts =
    "21 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "30 21 0:25 / /scratch rw,noatime shared:2 master:7 - lustre 10.0.0.1@tcp:/fs rw,flock\n"
    "31 21 0:26 / /with\\040blank ro - tmpfs none ro\n"
    "broken\n"
    "32 30 0:27 / /scratch rw - nfs4 over:/it rw\n";

TEST(FindMount, takes_the_nearest_and_the_last) {
  EXPECT_EQ(find_mount(mounts, "/home/user/a").point, "/");
  EXPECT_EQ(find_mount(mounts, "/home/user/a").source, "/dev/vda1");
  EXPECT_EQ(find_mount(mounts, "/scratch/a").source, "over:/it");
  EXPECT_EQ(find_mount(mounts, "/scratch2/a").point, "/");
  EXPECT_EQ(find_mount(mounts, "/with blank").options, "ro");
  EXPECT_EQ(find_mount("", "/a").point, "");
}

TEST(Storage, of_a_folder_of_this_machine) {
  std::array<char, 64> name{"/tmp/fulmar-storage-XXXXXX"};
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::string folder = name.data();
  const Storage storage = find_storage(folder + "/file");
  EXPECT_EQ(storage.exists, Storage::Exists::folder_only);
  EXPECT_NE(storage.magic, 0U);
  EXPECT_GT(storage.total_bytes, 0U);
  EXPECT_LE(storage.free_bytes, storage.total_bytes);
  EXPECT_FALSE(storage.mount_point.empty());
  EXPECT_EQ(find_storage(folder).exists, Storage::Exists::folder);
  EXPECT_EQ(find_storage(folder + "/none/file").exists, Storage::Exists::no_folder);
  EXPECT_EQ(::rmdir(folder.c_str()), 0) << "nothing was left behind";
}

TEST(Storage, tries_a_lock_at_the_file_itself) {
  std::array<char, 64> name{"/tmp/fulmar-storage-XXXXXX"};
  ::close(::mkstemp(name.data()));
  const Storage storage = find_storage(name.data());
  EXPECT_EQ(storage.exists, Storage::Exists::file);
  EXPECT_EQ(storage.locks, Storage::Locks::work);
  ::unlink(name.data());
}

TEST(Folder, of_a_name) {
  EXPECT_EQ(folder_of("a"), ".");
  EXPECT_EQ(folder_of("/a"), "/");
  EXPECT_EQ(folder_of("/b/a"), "/b");
}

}  // namespace
}  // namespace fulmar::io
