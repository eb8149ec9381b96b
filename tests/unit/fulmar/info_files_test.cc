// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fulmar/info/files.h"

namespace fulmar::info {
namespace {

io::Storage nfs() {
  io::Storage storage;
  storage.exists = io::Storage::Exists::folder_only;
  storage.magic = 0x6969;
  storage.system = {"nfs", true, 1 << 20};
  storage.mount_point = "/home";
  storage.mounted_from = "server:/home";
  storage.mount_options = "rw,relatime";
  storage.total_bytes = std::uint64_t{3} << 40;
  storage.free_bytes = std::uint64_t{3} << 39;
  storage.block_bytes = 1 << 20;
  storage.locks = io::Storage::Locks::work;
  storage.io_uring_error = EPERM;
  return storage;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(InfoFiles, say_what_follows_from_the_file_system) {
  const std::string text = files_text("/home/a", nfs(), "", "");
  EXPECT_TRUE(has(text, "/home/a (does not exist yet)")) << text;
  EXPECT_TRUE(has(text, "nfs (magic 0x00006969, served by other machines), server:/home on /home"));
  EXPECT_TRUE(has(text, "1.5 TiB free of 3 TiB, in blocks of 1 MiB"));
  EXPECT_TRUE(has(text, "granted by the file server"));
  EXPECT_TRUE(has(text, "runs below 1 MiB"));
  EXPECT_TRUE(has(text, "not here (Operation not permitted)"));
  EXPECT_TRUE(has(text, "striping_unit          1048576      file system"));
  EXPECT_TRUE(has(text, "cb_nodes               one a node   default"));
}

TEST(InfoFiles, say_where_there_are_no_locks) {
  io::Storage storage = nfs();
  storage.locks = io::Storage::Locks::refused;
  storage.lock_error = ENOLCK;
  const std::string text = files_text("/home/a", storage, "", "");
  EXPECT_TRUE(has(text, "refused (No locks available): atomic mode and romio_ds_write=enable"));
  EXPECT_TRUE(has(text, "not possible here, without locks"));
}

TEST(InfoFiles, say_how_short_runs_move) {
  io::Storage storage = nfs();
  EXPECT_TRUE(
      has(files_text("/a", storage, "", ""), "short runs    a call for each run, or sieving\n"));
  storage.system.remote = false;
  storage.system.maps = true;
  EXPECT_TRUE(has(files_text("/a", storage, "", ""), "copied to and from mapped memory\n"));
  EXPECT_TRUE(
      has(files_text("/a", storage, "", ""), "each rank for itself; two phases only where"));
  storage.system.has_large_pages = true;
  EXPECT_TRUE(has(files_text("/a", storage, "", ""), "in pages of 2 MiB\n"));
}

TEST(InfoFiles, say_who_carries_out_non_blocking_accesses) {
  io::Storage storage = nfs();
  const auto line = [&](const char* way) { return files_text("/a", storage, "", way); };
  EXPECT_TRUE(has(line("io_uring"), "non-blocking  on threads of the library\n"));
  storage.io_uring_error = 0;
  EXPECT_TRUE(has(line(""), "non-blocking  on threads of the library\n"));
  EXPECT_TRUE(has(line("io_uring"), "non-blocking  io_uring where the data are one block"));
  EXPECT_TRUE(has(line("threads"), "(FULMAR_FILES_ASYNC=threads)\n"));
  storage.system.remote = false;
  EXPECT_TRUE(has(line("auto"), "fetched from the device by io_uring\n"));
}

TEST(InfoFiles, show_stripes) {
  io::Storage storage = nfs();
  storage.stripes = {4 << 20, 8};
  EXPECT_TRUE(has(files_text("/home/a", storage, "", ""),
                  "4 MiB over 8 servers; parts of aggregators begin at stripes"));
}

TEST(InfoFiles, name_the_origin_of_each_hint) {
  std::array<char, 64> name{"/tmp/fulmar-hints-XXXXXX"};
  const int descriptor = ::mkstemp(name.data());
  ASSERT_GE(descriptor, 0);
  ::close(descriptor);
  std::ofstream(name.data()) << "cb_buffer_size 65536\ncollective_buffering true\nnb_proc 4\n"
                                "romio_ds_read automatic\nstriping_factor 16\n";
  const std::string text = files_text("/home/a", nfs(), name.data(), "");
  EXPECT_TRUE(has(text, "cb_buffer_size         65536        ROMIO_HINTS\n")) << text;
  EXPECT_TRUE(has(text, "romio_cb_write         enable       ROMIO_HINTS\n"));
  EXPECT_TRUE(has(text, "romio_ds_read          automatic    ROMIO_HINTS\n"));
  EXPECT_TRUE(has(text, "romio_ds_write         disable      default\n"));
  EXPECT_TRUE(has(text, "nb_proc                4            not known, ignored\n"));
  EXPECT_TRUE(has(text, "striping_factor        16           no effect here, ignored\n"));
  io::Storage lustre = nfs();
  lustre.system.name = "lustre";
  EXPECT_TRUE(has(files_text("/home/a", lustre, name.data(), ""),
                  "striping_factor        16           ROMIO_HINTS\n"));
  ::unlink(name.data());
  EXPECT_TRUE(has(files_text("/home/a", nfs(), name.data(), ""), ": cannot be read, ignored"));
}

}  // namespace
}  // namespace fulmar::info
