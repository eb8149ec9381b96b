// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/hints.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "io/file_system/file_system.h"
#include "io/file_system/striping.h"

namespace fulmar::io {
namespace {

std::map<std::string, std::string> in_effect(const Hints& hints) {
  const auto list = hints.in_effect();
  return {list.begin(), list.end()};
}

TEST(Hints, Values_that_make_no_sense_change_nothing) {
  Hints hints;
  const auto before = in_effect(hints);
  for (const char* value : {"", "x", "-3", "0", "12x"}) {
    hints.set("cb_buffer_size", value);
    hints.set("cb_nodes", value);
    hints.set("romio_cb_read", value);
  }
  hints.set("file_perm", "999");
  hints.set("nothing", "1");
  EXPECT_EQ(in_effect(hints), before);
}

TEST(Hints, What_is_in_effect_can_be_given_again) {
  Hints hints;
  hints.set("cb_buffer_size", "123456");
  hints.set("collective_buffering", "true");
  hints.set("romio_cb_read", "disable");
  hints.set("romio_ds_write", "enable");
  hints.set("file_perm", "0640");
  hints.set("cb_nodes", "5");
  hints.set("striping_factor", "-1");
  Hints again;
  for (const auto& [key, value] : hints.in_effect()) again.set(key, value);
  EXPECT_EQ(in_effect(again), in_effect(hints));
  EXPECT_EQ(again.two_phase_write, Use::always);
  EXPECT_EQ(again.two_phase_read, Use::never);
  EXPECT_EQ(again.permissions, 0640U);
  EXPECT_EQ(again.stripe_count, Stripes::all_servers);
}

TEST(Hints, What_has_no_effect_is_not_told) {
  Hints hints;
  for (const char* key : {"nb_proc", "chunked", "filename"}) hints.set(key, "4");
  for (const char* value : {"0", "-2", "2001", "many"}) hints.set("striping_factor", value);
  hints.set("cb_config_list", "*:");
  hints.set("access_style", "write_once,write_mostly");
  auto told = in_effect(hints);
  for (const char* key : {"nb_proc", "striping_factor", "cb_config_list", "access_style"}) {
    EXPECT_EQ(told.count(key), 0U) << key;
  }
  hints.set("cb_config_list", "*:2");
  hints.set("access_style", "write_mostly,random");
  told = in_effect(hints);
  EXPECT_EQ(told["cb_config_list"], "*:2");
  EXPECT_EQ(told["access_style"], "random");
  hints.set("access_style", "sequential");
  EXPECT_EQ(in_effect(hints)["access_style"], "sequential");
}

TEST(Hints, What_is_read_once_is_told_beside_the_order) {
  Hints hints;
  hints.set("access_style", "read_once");
  EXPECT_EQ(in_effect(hints)["access_style"], "read_once");
  hints.set("access_style", "random,write_once");
  EXPECT_EQ(in_effect(hints)["access_style"], "read_once,random");
  Hints again;
  again.set("access_style", in_effect(hints)["access_style"]);
  EXPECT_TRUE(again.read_once);
  EXPECT_EQ(again.style, Style::random);
  hints.set("access_style", "read_mostly");
  EXPECT_EQ(in_effect(hints)["access_style"], "random");
}

TEST(Hints, Sizes_have_limits) {
  Hints hints;
  hints.set("cb_buffer_size", "1");
  EXPECT_EQ(hints.window_bytes, 4096);
  hints.set("cb_buffer_size", "99999999999");
  EXPECT_EQ(hints.window_bytes, 1 << 30);
}

TEST(Hints, A_file_has_a_pair_on_each_line) {
  char name[] = "/tmp/fulmar-hints-XXXXXX";
  const int descriptor = ::mkstemp(name);
  std::FILE* file = ::fdopen(descriptor, "w");
  std::fputs("# all\ncb_nodes 4 # four\n\n  striping_unit\t65536\nlonely\n", file);
  std::fclose(file);
  const auto hints = read_hints_file(name);
  ::remove(name);
  ASSERT_EQ(hints.size(), 2U);
  EXPECT_EQ(hints[0].first, "cb_nodes");
  EXPECT_EQ(hints[0].second, "4");
  EXPECT_EQ(hints[1].second, "65536");
  EXPECT_TRUE(read_hints_file(name).empty());
}

TEST(FileName, Known_prefixes_are_taken_away_and_others_stay) {
  EXPECT_EQ(without_prefix("ufs:/a/b"), "/a/b");
  EXPECT_EQ(without_prefix("NFS:x"), "x");
  EXPECT_EQ(without_prefix("mine:x"), "mine:x");
  EXPECT_EQ(without_prefix("/a:b"), "/a:b");
  EXPECT_EQ(without_prefix("plain"), "plain");
}

TEST(FileSystem, Takes_the_care_that_another_one_needs) {
  const FileSystem local{"ext4", false, 4096, true};
  const FileSystem client{"nfs", true, 1 << 20, false, false, true};
  for (const bool is_local : {true, false}) {
    FileSystem system = is_local ? local : client;
    system.respect(is_local ? client : local);
    EXPECT_STREQ(system.name, is_local ? "ext4" : "nfs");
    EXPECT_TRUE(system.remote);
    EXPECT_EQ(system.unit_bytes, 1 << 20);
    EXPECT_FALSE(system.maps);
    EXPECT_TRUE(system.has_client_caches);
  }
  FileSystem system = local;
  system.respect(local);
  EXPECT_TRUE(system.maps) << "nothing changes beside one of the same kind";
  EXPECT_FALSE(system.remote || system.has_client_caches);
}

TEST(FileSystem, Is_found_by_the_folder_where_there_is_no_file) {
  EXPECT_STREQ(file_system_of("/proc/self/nothing").name, file_system_of("/proc").name);
  EXPECT_STREQ(file_system_of("/dev/shm/nothing-here").name, "tmpfs");
}

}  // namespace
}  // namespace fulmar::io
