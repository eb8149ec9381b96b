// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <limits>

#include "api/call.h"
#include "api/kinds/counts.h"
#include "api/kinds/strings.h"
#include "api/kinds/values.h"

namespace fulmar::api {
namespace {

using base::ErrorClass;

class Kinds : public testing::Test {
 protected:
  /// What the wrapper says about itself, as argument "x" of a call.
  template <class Wrapper>
  ErrorClass verdict(Wrapper wrapper) {
    if (wrapper.check(scope_)) return ErrorClass::success;
    const base::Error error = wrapper.explain(scope_, Argument{"x"});
    EXPECT_NE(error.text().find("argument x"), std::string::npos) << error.text();
    text_ = error.text();
    return error.error_class();
  }

  mpi::Library library_;
  Scope scope_{library_};
  std::string text_;
};

TEST(Call, finds_the_names_of_its_arguments) {
  const Call call("MPI_Send\0buf\0count\0comm");
  EXPECT_STREQ(call.name(), "MPI_Send");
  EXPECT_STREQ(call.argument(0), "buf");
  EXPECT_STREQ(call.argument(2), "comm");
}

TEST_F(Kinds, count_below_zero_is_an_error) {
  EXPECT_EQ(verdict(CountIn{0, -1}), ErrorClass::count);
  EXPECT_NE(text_.find("-1"), std::string::npos) << text_;
  EXPECT_EQ(verdict(CountIn{0, 0}), ErrorClass::success);
}

TEST_F(Kinds, count_of_the_large_form_reaches_the_implementation) {
  const MPI_Count large = MPI_Count{1} << 33;
  CountIn wrapper{0, large};
  EXPECT_TRUE(wrapper.check(scope_));
  EXPECT_EQ(wrapper.value(scope_), large);
}

TEST_F(Kinds, sizes_and_units_have_their_own_class) {
  EXPECT_EQ(verdict(MemorySizeIn{0, -1}), ErrorClass::size);
  EXPECT_EQ(verdict(UnitIn{0, 0}), ErrorClass::disp);
  EXPECT_EQ(verdict(UnitIn{0, 1}), ErrorClass::success);
}

TEST_F(Kinds, result_that_does_not_fit_becomes_undefined) {
  int result = 0;
  CountResult wrapper{0, &result};
  ASSERT_TRUE(wrapper.check(scope_));
  EXPECT_TRUE(wrapper.value(scope_).set(Count{1} << 31).ok());
  EXPECT_EQ(result, MPI_UNDEFINED);
  EXPECT_TRUE(wrapper.value(scope_).set(std::numeric_limits<int>::max()).ok());
  EXPECT_EQ(result, std::numeric_limits<int>::max());
}

TEST_F(Kinds, position_that_does_not_fit_fails) {
  int result = 7;
  PositionInOut wrapper{0, &result};
  EXPECT_EQ(wrapper.value(scope_).set(Count{1} << 31).error_class(), ErrorClass::value_too_large);
  EXPECT_EQ(result, 7);
  MPI_Count large = 0;
  EXPECT_TRUE((PositionInOut{0, &large}.value(scope_).set(Count{1} << 31).ok()));
  EXPECT_EQ(large, Count{1} << 31);
}

TEST_F(Kinds, result_at_null_is_an_error) {
  EXPECT_EQ(verdict(Out<int>{0, nullptr}), ErrorClass::arg);
  EXPECT_EQ(verdict(PointerOut{0, nullptr}), ErrorClass::arg);
  EXPECT_EQ(verdict(CountResult<int>{0, nullptr}), ErrorClass::arg);
  EXPECT_EQ(verdict(StatusIn{0, MPI_STATUS_IGNORE}), ErrorClass::arg);
}

TEST_F(Kinds, counts_of_an_array_are_checked_where_the_length_is_known) {
  const int bad[] = {3, 0, -4};
  EXPECT_EQ(verdict(CountValues{0, bad, 3}), ErrorClass::count);
  EXPECT_NE(text_.find("entry 2 is -4"), std::string::npos) << text_;
  EXPECT_EQ(verdict(CountValues{0, bad, 2}), ErrorClass::success);
  EXPECT_EQ(verdict(CountValues{0, bad}), ErrorClass::success);
  EXPECT_EQ(verdict(CountValues{0, static_cast<const int*>(nullptr), 1}), ErrorClass::arg);
  EXPECT_EQ(verdict(CountValues{0, static_cast<const int*>(nullptr), 0}), ErrorClass::success);
}

TEST_F(Kinds, array_of_counts_reads_both_forms) {
  const int plain[] = {1, -2};
  const MPI_Count large[] = {Count{1} << 40, 5};
  EXPECT_EQ((OffsetValues{0, plain, 2}.value(scope_)[1]), -2);
  EXPECT_EQ((OffsetValues{0, plain, 2}.value(scope_).size()), 2U);
  EXPECT_EQ((CountValues{0, large}.value(scope_)[0]), Count{1} << 40);
  EXPECT_EQ((CountValues{0, large}.value(scope_).size()), mpi::CountArray::unknown);
}

TEST_F(Kinds, span_with_elements_needs_memory) {
  int some[] = {1, 2, 3};
  EXPECT_EQ(verdict(Span{0, static_cast<int*>(nullptr), 2}), ErrorClass::arg);
  EXPECT_EQ(verdict(Span{0, static_cast<int*>(nullptr), 0}), ErrorClass::success);
  EXPECT_EQ(Span(0, some, 3).value(scope_).size(), 3U);
  EXPECT_EQ(Span(0, some).value(scope_), &some[0]);
}

TEST_F(Kinds, number_out_of_range_is_an_error) {
  EXPECT_EQ(verdict(NaturalIn{0, -1}), ErrorClass::arg);
  EXPECT_EQ(verdict(NaturalIn{0, 0}), ErrorClass::success);
  EXPECT_EQ(verdict(ColorIn{0, -1}), ErrorClass::arg);
  EXPECT_EQ(verdict(ColorIn{0, MPI_UNDEFINED}), ErrorClass::success);
}

TEST_F(Kinds, string_at_null_is_an_error) {
  EXPECT_EQ(verdict(StringIn{0, nullptr}), ErrorClass::arg);
  EXPECT_EQ(verdict(StringOut{0, nullptr}), ErrorClass::arg);
  EXPECT_EQ(StringIn(0, "key").value(scope_), "key");
}

TEST_F(Kinds, string_of_no_length_may_be_null) {
  int room = 0;
  EXPECT_EQ(verdict(StringOutOf{0, static_cast<char*>(nullptr), &room}), ErrorClass::success);
  room = 3;
  EXPECT_EQ(verdict(StringOutOf{0, static_cast<char*>(nullptr), &room}), ErrorClass::arg);
  EXPECT_EQ(verdict(StringOutOf{0, static_cast<char*>(nullptr), 0}), ErrorClass::success);
}

TEST_F(Kinds, callback_keeps_its_form) {
  using Wrapper = CallbackOf<MPI_User_function, MPI_User_function_c>;
  MPI_User_function* plain = [](void*, void*, int*, MPI_Datatype*) {};
  MPI_User_function_c* large = [](void*, void*, MPI_Count*, MPI_Datatype*) {};
  EXPECT_EQ(Wrapper(0, plain).value(scope_).plain, plain);
  EXPECT_EQ(Wrapper(0, plain).value(scope_).large, nullptr);
  EXPECT_EQ(Wrapper(0, large).value(scope_).large, large);
  EXPECT_EQ(verdict(Wrapper{0, static_cast<MPI_User_function*>(nullptr)}), ErrorClass::arg);
}

}  // namespace
}  // namespace fulmar::api
