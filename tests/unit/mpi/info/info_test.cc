// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/info/info.h"

#include <array>
#include <string>

#include "mpi/info/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;

class InfoTest : public Objects {
 protected:
  void SetUp() override { ASSERT_TRUE(info_create(library, handle).ok()); }
  void TearDown() override {
    if (handle != MPI_INFO_NULL) free_info(handle);
    Objects::TearDown();
  }
  void free_info(MPI_Info& freed) {
    EXPECT_TRUE(info_free(library, {&freed, &find<Info>(freed)}).ok());
    EXPECT_EQ(freed, MPI_INFO_NULL);
  }
  Info& object() { return find<Info>(handle); }
  void set(const char* key, const char* value) {
    EXPECT_TRUE(info_set(library, object(), key, value).ok());
  }
  std::string get(Info& from, const char* key) {
    char value[MPI_MAX_INFO_VAL + 1] = "?";
    int found = -1;
    EXPECT_TRUE(info_get(library, from, key, MPI_MAX_INFO_VAL, value, found).ok());
    return found == 1 ? value : "(not set)";
  }
  int keys() {
    int count = -1;
    EXPECT_TRUE(info_get_nkeys(library, object(), count).ok());
    return count;
  }

  MPI_Info handle = MPI_INFO_NULL;
};

TEST_F(InfoTest, New_object_is_empty) { EXPECT_EQ(keys(), 0); }

TEST_F(InfoTest, Set_replaces_and_keeps_the_order) {
  set("one", "1");
  set("two", "2");
  set("one", "uno");
  EXPECT_EQ(keys(), 2);
  EXPECT_EQ(get(object(), "one"), "uno");
  char key[MPI_MAX_INFO_KEY];
  ASSERT_TRUE(info_get_nthkey(library, object(), 0, key).ok());
  EXPECT_STREQ(key, "one");
  ASSERT_TRUE(info_get_nthkey(library, object(), 1, key).ok());
  EXPECT_STREQ(key, "two");
}

TEST_F(InfoTest, Keys_are_case_sensitive) {
  set("Key", "a");
  EXPECT_EQ(get(object(), "key"), "(not set)");
}

TEST_F(InfoTest, Delete_forgets_and_fails_on_a_missing_key) {
  set("one", "1");
  set("two", "2");
  EXPECT_TRUE(info_delete(library, object(), "one").ok());
  EXPECT_EQ(get(object(), "one"), "(not set)");
  EXPECT_EQ(keys(), 1);
  EXPECT_EQ(class_of(info_delete(library, object(), "one")), ErrorClass::info_nokey);
}

TEST_F(InfoTest, Dup_is_independent) {
  set("one", "1");
  MPI_Info copy = MPI_INFO_NULL;
  ASSERT_TRUE(info_dup(library, object(), copy).ok());
  set("one", "changed");
  EXPECT_EQ(get(find<Info>(copy), "one"), "1");
  free_info(copy);
}

TEST_F(InfoTest, Longest_key_and_value_fit_and_longer_ones_fail) {
  const std::string key(MPI_MAX_INFO_KEY - 1, 'k');
  const std::string value(MPI_MAX_INFO_VAL - 1, 'v');
  set(key.c_str(), value.c_str());
  EXPECT_EQ(get(object(), key.c_str()), value);
  char out[MPI_MAX_INFO_KEY];
  ASSERT_TRUE(info_get_nthkey(library, object(), 0, out).ok());
  EXPECT_EQ(out, key);
  EXPECT_EQ(class_of(info_set(library, object(), key + "k", "v")), ErrorClass::info_key);
  EXPECT_EQ(class_of(info_set(library, object(), "k", value + "v")), ErrorClass::info_value);
  EXPECT_EQ(class_of(info_set(library, object(), "", "v")), ErrorClass::info_key);
  EXPECT_EQ(keys(), 1);
}

TEST_F(InfoTest, Empty_value_is_a_value) {
  set("empty", "");
  EXPECT_EQ(get(object(), "empty"), "");
}

TEST_F(InfoTest, Get_cuts_at_the_room) {
  set("key", "0123456789");
  char value[8] = "#######";
  int found = 0;
  ASSERT_TRUE(info_get(library, object(), "key", 3, value, found).ok());
  EXPECT_STREQ(value, "012");
  EXPECT_EQ(value[4], '#');
  EXPECT_EQ(class_of(info_get(library, object(), "key", -1, value, found)), ErrorClass::arg);
}

TEST_F(InfoTest, Get_string_tells_the_size_it_needs) {
  set("key", "abc");
  char value[8] = "#######";
  int size = 0;
  int found = 0;
  ASSERT_TRUE(info_get_string(library, object(), "key", size, value, found).ok());
  EXPECT_EQ(size, 4);
  EXPECT_EQ(found, 1);
  EXPECT_STREQ(value, "#######");
  size = 2;
  ASSERT_TRUE(info_get_string(library, object(), "key", size, value, found).ok());
  EXPECT_EQ(size, 4);
  EXPECT_STREQ(value, "a");
  size = 8;
  ASSERT_TRUE(info_get_string(library, object(), "key", size, value, found).ok());
  EXPECT_EQ(size, 4);
  EXPECT_STREQ(value, "abc");
  size = 5;
  ASSERT_TRUE(info_get_string(library, object(), "other", size, value, found).ok());
  EXPECT_EQ(found, 0);
  EXPECT_EQ(size, 5);
  size = -1;
  EXPECT_EQ(class_of(info_get_string(library, object(), "key", size, value, found)),
            ErrorClass::arg);
}

TEST_F(InfoTest, Valuelen_is_without_the_null) {
  set("key", "abc");
  int length = -7;
  int found = 0;
  ASSERT_TRUE(info_get_valuelen(library, object(), "key", length, found).ok());
  EXPECT_EQ(length, 3);
  length = -7;
  ASSERT_TRUE(info_get_valuelen(library, object(), "other", length, found).ok());
  EXPECT_EQ(found, 0);
  EXPECT_EQ(length, -7);
}

TEST_F(InfoTest, Nthkey_outside_fails) {
  set("key", "abc");
  char key[MPI_MAX_INFO_KEY];
  EXPECT_EQ(class_of(info_get_nthkey(library, object(), 1, key)), ErrorClass::arg);
  EXPECT_EQ(class_of(info_get_nthkey(library, object(), -1, key)), ErrorClass::arg);
}

TEST_F(InfoTest, Freed_handle_is_not_found) {
  const MPI_Info old = handle;
  free_info(handle);
  EXPECT_EQ(library.find<Info>(old), nullptr);
}

TEST_F(InfoTest, Info_env_can_be_read_and_copied_only) {
  describe_process(info.env, {{"program", "-v", "x"}, "4", "mpi_errors_return"});
  EXPECT_EQ(get(find<Info>(MPI_INFO_ENV), "command"), "program");
  EXPECT_EQ(get(info.env, "argv"), "-v x");
  EXPECT_EQ(get(info.env, "maxprocs"), "4");
  EXPECT_EQ(get(info.env, "soft"), "4");
  EXPECT_EQ(get(info.env, "mpi_initial_errhandler"), "mpi_errors_return");
  EXPECT_EQ(get(info.env, "thread_level"), "(not set)");
  EXPECT_NE(get(info.env, "host"), "(not set)");
  EXPECT_NE(get(info.env, "wdir"), "(not set)");
  EXPECT_EQ(class_of(info_set(library, info.env, "a", "b")), ErrorClass::info);
  EXPECT_EQ(class_of(info_delete(library, info.env, "host")), ErrorClass::info);
  MPI_Info env = MPI_INFO_ENV;
  EXPECT_EQ(class_of(info_free(library, {&env, &info.env})), ErrorClass::info);
  MPI_Info copy = MPI_INFO_NULL;
  ASSERT_TRUE(info_dup(library, info.env, copy).ok());
  EXPECT_TRUE(info_set(library, find<Info>(copy), "a", "b").ok());
  free_info(copy);
}

TEST_F(InfoTest, Create_env_before_init_takes_the_arguments) {
  info.env.launch = {{}, "3", "mpi_errors_abort"};
  std::array<char, 4> program{"abc"};
  std::array<char, 2> argument{"x"};
  std::array<char*, 3> argv{program.data(), argument.data(), nullptr};
  MPI_Info env = MPI_INFO_NULL;
  ASSERT_TRUE(info_create_env(library, 2, argv.data(), env).ok());
  EXPECT_EQ(get(find<Info>(env), "command"), "abc");
  EXPECT_EQ(get(find<Info>(env), "argv"), "x");
  EXPECT_EQ(get(find<Info>(env), "maxprocs"), "3");
  EXPECT_EQ(get(find<Info>(env), "soft"), "3");
  EXPECT_EQ(get(find<Info>(env), "mpi_initial_errhandler"), "mpi_errors_abort");
  free_info(env);
  ASSERT_TRUE(info_create_env(library, 0, nullptr, env).ok());
  EXPECT_NE(get(find<Info>(env), "command"), "(not set)");
  free_info(env);
}

}  // namespace
}  // namespace fulmar::mpi
