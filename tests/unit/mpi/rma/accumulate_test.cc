// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/accumulate.h"

#include <array>

#include "mpi/datatype/calls.h"
#include "mpi/op/op.h"
#include "mpi/rma/range.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;

class AccumulateTest : public Objects {
 protected:
  /// Types made by a test, which are freed behind it.
  std::vector<MPI_Datatype> made_;
  void TearDown() override {
    for (MPI_Datatype handle : made_) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
    Objects::TearDown();
  }
  [[nodiscard]] const Op& op(MPI_Op handle) const { return *library.find<Op>(handle); }
  template <class T, std::size_t n>
  static std::span<const std::byte> bytes(const std::array<T, n>& values) {
    return std::as_bytes(std::span(values));
  }
};

TEST_F(AccumulateTest, Strided_elements_of_the_target_are_changed_and_no_others) {
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 3, 1, 2, type(MPI_INT), strided).ok());
  made_.push_back(strided);
  std::array<int, 6> memory = {1, 2, 3, 4, 5, 6};
  const std::array<int, 3> source = {10, 20, 30};
  accumulate_data(op(MPI_SUM), &type(MPI_INT), bytes(source), {memory.data(), 1, &type(strided)});
  EXPECT_EQ(memory, (std::array<int, 6>{11, 2, 23, 4, 35, 6}));
  accumulate_data(op(MPI_REPLACE), nullptr, bytes(source), {memory.data(), 1, &type(strided)});
  EXPECT_EQ(memory, (std::array<int, 6>{10, 2, 20, 4, 30, 6}));
  accumulate_data(op(MPI_NO_OP), nullptr, bytes(source), {memory.data(), 1, &type(strided)});
  EXPECT_EQ(memory, (std::array<int, 6>{10, 2, 20, 4, 30, 6}));
}

TEST_F(AccumulateTest, The_element_is_found_below_constructors) {
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, 4, type(MPI_DOUBLE_INT), pairs).ok());
  made_.push_back(pairs);
  EXPECT_EQ(element_type(library, type(pairs)), &type(MPI_DOUBLE_INT));
  // A pair of equal parts is not its parts, two constructors up either.
  for (const MPI_Datatype element : {MPI_2INT, MPI_2DOUBLE_PRECISION, MPI_INT}) {
    MPI_Datatype some = MPI_DATATYPE_NULL;
    MPI_Datatype more = MPI_DATATYPE_NULL;
    ASSERT_TRUE(type_contiguous(library, Form::plain, 3, type(element), some).ok());
    made_.push_back(some);
    ASSERT_TRUE(type_contiguous(library, Form::plain, 2, type(some), more).ok());
    made_.push_back(more);
    EXPECT_EQ(element_type(library, type(more)), &type(element));
  }
  MPI_Datatype mix = MPI_DATATYPE_NULL;
  constexpr std::array lengths = {1, 1};
  constexpr std::array<MPI_Aint, 2> places = {0, 8};
  const std::array parts = {MPI_INT, MPI_DOUBLE};
  ASSERT_TRUE(
      type_create_struct(library, Form::plain, 2, CountArray(lengths.data(), 2), places, parts, mix)
          .ok());
  made_.push_back(mix);
  EXPECT_EQ(element_type(library, type(mix)), nullptr);
  EXPECT_EQ(check_accumulate(op(MPI_SUM), nullptr).error_class(), ErrorClass::type);
  EXPECT_TRUE(check_accumulate(op(MPI_REPLACE), nullptr).ok());
  EXPECT_EQ(check_accumulate(op(MPI_BXOR), &type(MPI_FLOAT)).error_class(), ErrorClass::op);
}

TEST_F(AccumulateTest, Codes_of_other_processes_name_predefined_operations_only) {
  EXPECT_EQ(predefined_op(library, static_cast<std::uint8_t>(op(MPI_MAX).code)), &op(MPI_MAX));
  EXPECT_EQ(predefined_op(library, static_cast<std::uint8_t>(OpCode::user)), nullptr);
  EXPECT_EQ(predefined_op(library, 200), nullptr);
}

TEST_F(AccumulateTest, Ranges_are_those_of_the_elements) {
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, 3, 1, -2, type(MPI_INT), strided).ok());
  made_.push_back(strided);
  const auto range = touched_bytes(100, 2, type(strided));
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->begin, 100 - 16);
  EXPECT_EQ(range->end, 100 + 4 + type(strided).extent);
  EXPECT_FALSE(touched_bytes(INT64_MAX - 2, 1, type(MPI_INT)).has_value());
  EXPECT_FALSE(touched_bytes(0, INT64_MAX, type(MPI_INT)).has_value());
}

}  // namespace
}  // namespace fulmar::mpi
