// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/mpich/native_descriptor.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fulmar::fortran {
namespace {

int numbers[24];

NativeDescriptor gfortran(std::int8_t rank) {
  NativeDescriptor made;
  std::memset(&made, 0x5a, sizeof(made));  // what is beyond the rank means nothing
  made.gfortran.base = numbers;
  made.gfortran.element_bytes = sizeof(int);
  made.gfortran.version = 0;
  made.gfortran.rank = rank;
  made.gfortran.span = sizeof(int);
  return made;
}

TEST(NativeDescriptors, Strides_of_gfortran_count_spans) {
  NativeDescriptor native = gfortran(2);
  native.gfortran.dimensions[0] = {2, 1, 3};
  native.gfortran.dimensions[1] = {6, 0, 3};
  const Descriptor made = standard_descriptor(native);
  EXPECT_EQ(made.base, numbers);
  EXPECT_EQ(made.element_bytes, sizeof(int));
  ASSERT_EQ(made.rank, 2);
  EXPECT_EQ(made.dimensions[0].extent, 3);
  EXPECT_EQ(made.dimensions[0].stride_bytes, 8);
  EXPECT_EQ(made.dimensions[1].extent, 4);
  EXPECT_EQ(made.dimensions[1].stride_bytes, 24);
}

TEST(NativeDescriptors, A_component_of_derived_type_has_a_span_of_its_own) {
  NativeDescriptor native = gfortran(1);
  native.gfortran.span = 12;
  native.gfortran.dimensions[0] = {1, 1, 5};
  EXPECT_EQ(standard_descriptor(native).dimensions[0].stride_bytes, 12);
  native.gfortran.span = 0;  // not set: as large as an element
  EXPECT_EQ(standard_descriptor(native).dimensions[0].stride_bytes, 4);
}

TEST(NativeDescriptors, The_last_dimension_of_an_assumed_size_array_is_unbounded) {
  for (const std::ptrdiff_t upper : {std::ptrdiff_t{0}, std::ptrdiff_t{-1}}) {
    NativeDescriptor native = gfortran(2);
    native.gfortran.dimensions[0] = {1, 1, 6};
    native.gfortran.dimensions[1] = {6, 1, upper};
    const Descriptor made = standard_descriptor(native);
    EXPECT_EQ(made.dimensions[1].extent, -1);
    EXPECT_TRUE(Section(made).is_contiguous());
  }
}

TEST(NativeDescriptors, Empty_dimensions_have_no_negative_extent) {
  NativeDescriptor native = gfortran(2);
  native.gfortran.dimensions[0] = {1, 5, 2};
  native.gfortran.dimensions[1] = {6, 1, 4};
  EXPECT_EQ(standard_descriptor(native).dimensions[0].extent, 0);
}

TEST(NativeDescriptors, Ranks_that_no_array_has_count_as_none) {
  EXPECT_EQ(standard_descriptor(gfortran(16)).rank, 0);
  EXPECT_EQ(standard_descriptor(gfortran(-1)).rank, 0);
  EXPECT_EQ(standard_descriptor(gfortran(15)).rank, 15);
}

TEST(NativeDescriptors, Those_of_Intel_are_told_by_their_flags) {
  NativeDescriptor native;
  std::memset(&native, 0, sizeof(native));
  native.intel.base = numbers;
  native.intel.element_bytes = sizeof(int);
  native.intel.flags = 1;
  native.intel.rank = 1;
  native.intel.dimensions[0] = {3, 8, 1};
  const Descriptor made = standard_descriptor(native);
  EXPECT_EQ(made.base, numbers);
  ASSERT_EQ(made.rank, 1);
  EXPECT_EQ(made.dimensions[0].extent, 3);
  EXPECT_EQ(made.dimensions[0].stride_bytes, 8);
}

}  // namespace
}  // namespace fulmar::fortran
