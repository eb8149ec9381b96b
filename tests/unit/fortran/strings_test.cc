// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/strings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace fulmar::fortran {
namespace {

std::string in(const std::string& text, Trim trim) {
  return InString(text.data(), text.size(), trim).get();
}

TEST(Strings, Blanks_are_trimmed_as_asked) {
  EXPECT_EQ(in("  a b  ", Trim::trailing), "  a b");
  EXPECT_EQ(in("  a b  ", Trim::both), "a b");
  EXPECT_EQ(in("    ", Trim::both), "");
  EXPECT_EQ(in("", Trim::trailing), "");
  const std::string long_text(1000, 'x');
  EXPECT_EQ(in(long_text + "   ", Trim::both), long_text);
}

TEST(Strings, What_comes_out_is_filled_or_cut) {
  OutString out(8);
  std::strcpy(out.get(), "abc");
  std::string text = "xxxxxx";
  out.store(text.data(), text.size());
  EXPECT_EQ(text, "abc   ");
  text = "xx";
  out.store(text.data(), text.size());
  EXPECT_EQ(text, "ab");
}

TEST(Strings, Without_a_zero_byte_the_capacity_ends_it) {
  OutString out(3);
  std::memcpy(out.get(), "abc", 3);
  std::string text = "xxxxxx";
  out.store(text.data(), text.size());
  EXPECT_EQ(text, "abc   ");
}

TEST(Strings, A_blank_element_ends_a_list) {
  const std::string array = "one two     next";
  StringList list(array.data(), 4, 4, -1);
  ASSERT_FALSE(list.failed());
  EXPECT_STREQ(list.get()[0], "one");
  EXPECT_STREQ(list.get()[1], "two");
  EXPECT_EQ(list.get()[2], nullptr);
}

TEST(Strings, A_row_of_an_array_is_a_list_and_a_count_ends_it) {
  const std::string array = "a1b1a2b2    ";  // array(2, 3)
  StringList second(array.data() + 2, 2, 4, -1);
  EXPECT_STREQ(second.get()[0], "b1");
  EXPECT_STREQ(second.get()[1], "b2");
  EXPECT_EQ(second.get()[2], nullptr);
  StringList counted(array.data(), 2, 2, 6);
  EXPECT_STREQ(counted.get()[5], "");
  EXPECT_EQ(counted.get()[6], nullptr);
}

}  // namespace
}  // namespace fulmar::fortran
