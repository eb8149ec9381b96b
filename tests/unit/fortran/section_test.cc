// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/section.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace fulmar::fortran {
namespace {

using Dimension = Descriptor::Dimension;

Descriptor describe(int* base, std::initializer_list<Dimension> dimensions) {
  Descriptor descriptor{};
  descriptor.base = base;
  descriptor.element_bytes = sizeof(int);
  for (const Dimension& dimension : dimensions) {
    descriptor.dimensions[descriptor.rank++] = dimension;
  }
  return descriptor;
}

class Sections : public testing::Test {
 protected:
  Sections() : numbers_(60) { std::iota(numbers_.begin(), numbers_.end(), 0); }

  std::vector<int> elements(const Section& section) const {
    std::vector<int> found(static_cast<std::size_t>(section.elements()));
    section.copy_to(reinterpret_cast<char*>(found.data()));
    return found;
  }

  std::vector<int> numbers_;
};

TEST_F(Sections, Whole_arrays_scalars_and_what_has_one_element_are_contiguous) {
  EXPECT_TRUE(Section(describe(numbers_.data(), {})).is_contiguous());
  EXPECT_TRUE(Section(describe(numbers_.data(), {{1, 6, 4}, {1, 10, 24}})).is_contiguous());
  EXPECT_TRUE(Section(describe(numbers_.data(), {{1, 1, 400}, {1, 1, 800}})).is_contiguous());
  EXPECT_FALSE(Section(describe(numbers_.data(), {{1, 3, 8}})).is_contiguous());
  EXPECT_FALSE(Section(describe(numbers_.data(), {{1, 5, 4}, {1, 10, 24}})).is_contiguous());
  EXPECT_FALSE(Section(describe(numbers_.data() + 5, {{1, 6, -4}})).is_contiguous());
}

TEST_F(Sections, Assumed_size_and_empty_ones_are_contiguous) {
  EXPECT_TRUE(Section(describe(numbers_.data(), {{1, -1, 4}})).is_contiguous());
  EXPECT_TRUE(Section(describe(numbers_.data(), {{1, 6, 4}, {1, -1, 24}})).is_contiguous());
  const Section empty(describe(numbers_.data(), {{1, 5, 8}, {1, 0, 24}}));
  EXPECT_TRUE(empty.is_contiguous());
  EXPECT_EQ(empty.elements(), 0);
}

TEST_F(Sections, Elements_come_in_the_order_of_Fortran) {
  const Section rows(describe(numbers_.data() + 1, {{1, 3, 8}, {1, 2, 24}}));
  EXPECT_EQ(rows.elements(), 6);
  EXPECT_EQ(elements(rows), (std::vector<int>{1, 3, 5, 7, 9, 11}));
  const Section backwards(describe(numbers_.data() + 20, {{1, 2, 4}, {1, 3, -24}}));
  EXPECT_EQ(elements(backwards), (std::vector<int>{20, 21, 14, 15, 8, 9}));
}

TEST_F(Sections, Copying_back_touches_nothing_else) {
  const Section section(describe(numbers_.data() + 2, {{1, 2, 12}, {1, 2, 80}}));
  const std::vector<int> copied = elements(section);
  const std::vector<int> now = {-1, -2, copied[2], -4};  // the call has not written to the third
  numbers_[22] = 1234;                                   // but the program has
  const std::vector<int> before = numbers_;
  section.store_changes(reinterpret_cast<const char*>(now.data()),
                        reinterpret_cast<const char*>(copied.data()));
  EXPECT_EQ(numbers_[2], -1);
  EXPECT_EQ(numbers_[5], -2);
  EXPECT_EQ(numbers_[22], 1234);
  EXPECT_EQ(numbers_[25], -4);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < numbers_.size(); ++i) changed += numbers_[i] != before[i] ? 1 : 0;
  EXPECT_EQ(changed, 3U);
}

}  // namespace
}  // namespace fulmar::fortran
