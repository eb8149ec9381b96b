// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace fulmar::base {
namespace {

TEST(Error, default_is_success_with_code_zero) {
  const Error error;
  EXPECT_TRUE(error.ok());
  EXPECT_EQ(error.code(), 0);
  EXPECT_EQ(error.text(), "");
}

TEST(Error, failure_keeps_class_and_formatted_text) {
  const Error error =
      failure(ErrorClass::rank, "dest is %d, but the communicator has %d ranks", 7, 4);
  EXPECT_TRUE(error.failed());
  EXPECT_EQ(error.error_class(), ErrorClass::rank);
  EXPECT_EQ(error.text(), "dest is 7, but the communicator has 4 ranks");
}

TEST(Error, text_of_two_failures_stays_apart) {
  const Error first = failure(ErrorClass::tag, "first");
  const Error second = failure(ErrorClass::tag, "second");
  EXPECT_EQ(first.text(), "first");
  EXPECT_EQ(second.text(), "second");
}

TEST(Error, failure_cuts_long_text_to_511_bytes) {
  const Error error = failure(ErrorClass::arg, "%s", std::string(2000, 'x').c_str());
  EXPECT_EQ(error.text(), std::string(511, 'x'));
}

TEST(ErrorClass, name_and_text_of_known_and_unknown_class) {
  EXPECT_STREQ(error_class_name(ErrorClass::truncate), "MPI_ERR_TRUNCATE");
  EXPECT_STREQ(error_class_name(ErrorClass::abi), "MPI_ERR_ABI");
  EXPECT_STREQ(error_class_name(static_cast<ErrorClass>(-1)), "MPI_ERR_UNKNOWN");
  EXPECT_STREQ(error_class_name(static_cast<ErrorClass>(63)), "MPI_ERR_UNKNOWN");
  EXPECT_EQ(Error(ErrorClass::rank).text(), "invalid rank");
}

TEST(Result, holds_value_or_error) {
  Result<int> good = 3;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_TRUE(good.error().ok());

  const Result<int> bad = Error(ErrorClass::count);
  ASSERT_TRUE(bad.failed());
  EXPECT_EQ(bad.error().error_class(), ErrorClass::count);
}

}  // namespace
}  // namespace fulmar::base
