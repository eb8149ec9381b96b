// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/type_description.h"

#include <array>
#include <numeric>
#include <random>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/view.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using Words = std::vector<std::int64_t>;

class TypeDescriptionTest : public Objects {
 protected:
  /// Types made by a test, which are freed behind it.
  std::vector<MPI_Datatype> made_;
  void TearDown() override {
    for (MPI_Datatype handle : made_) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
    Objects::TearDown();
  }
  /// The description of a type made again, which must pack the same bytes.
  void expect_same(const Datatype& original) {
    auto copy = described_type(library, describe_type(original));
    ASSERT_TRUE(copy.ok()) << copy.error().text();
    const Datatype& made = **copy;
    EXPECT_EQ(made.size, original.size);
    EXPECT_EQ(made.extent, original.extent);
    EXPECT_EQ(made.lb, original.lb);
    EXPECT_EQ(made.true_lb, original.true_lb);
    EXPECT_EQ(made.true_extent, original.true_extent);
    constexpr Count count = 3;
    std::vector<std::byte> memory(4096);
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<std::byte>(i * 7 + i / 256);
    std::byte* const middle = memory.data() + 2048;
    std::vector<std::byte> first(static_cast<std::size_t>(count * original.size));
    std::vector<std::byte> second(first.size(), std::byte{1});
    (void)View(original, count).pack(middle, 0, first);
    (void)View(made, count).pack(middle, 0, second);
    EXPECT_EQ(first, second);
  }
  [[nodiscard]] bool refuses(const Words& words) const {
    return described_type(library, words).failed();
  }
  MPI_Datatype vector(Count count, Count block, Count stride, MPI_Datatype old) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    EXPECT_TRUE(type_vector(library, Form::plain, count, block, stride, type(old), made).ok());
    made_.push_back(made);
    return made;
  }
};

TEST_F(TypeDescriptionTest, Types_of_all_shapes_come_back) {
  expect_same(type(MPI_INT));
  expect_same(type(MPI_DOUBLE_INT));
  const MPI_Datatype strided = vector(5, 2, 3, MPI_INT);
  expect_same(type(strided));
  const MPI_Datatype loop = vector(3, 1, 2, strided);
  expect_same(type(loop));
  constexpr std::array lengths = {2, 1, 3};
  constexpr std::array places = {0, 5, 9};
  MPI_Datatype list = MPI_DATATYPE_NULL;
  EXPECT_TRUE(type_indexed(library, Form::plain, 3, CountArray(lengths.data(), 3),
                           CountArray(places.data(), 3), type(MPI_SHORT), list)
                  .ok());
  made_.push_back(list);
  expect_same(type(list));
  constexpr std::array<MPI_Aint, 3> bytes = {-40, 0, 300};
  const std::array parts = {strided, list, MPI_DOUBLE};
  MPI_Datatype mix = MPI_DATATYPE_NULL;
  EXPECT_TRUE(
      type_create_struct(library, Form::plain, 3, CountArray(lengths.data(), 3), bytes, parts, mix)
          .ok());
  made_.push_back(mix);
  expect_same(type(mix));
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  EXPECT_TRUE(type_create_resized(library, Form::plain, type(list), -8, 64, resized).ok());
  made_.push_back(resized);
  expect_same(type(resized));
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  EXPECT_TRUE(type_contiguous(library, Form::plain, 0, type(MPI_INT), nothing).ok());
  made_.push_back(nothing);
  expect_same(type(nothing));
}

TEST_F(TypeDescriptionTest, What_is_cut_off_or_goes_on_is_refused) {
  Words words = describe_type(type(vector(3, 1, 2, vector(5, 2, 3, MPI_INT))));
  for (std::size_t length = 0; length < words.size(); ++length) {
    EXPECT_TRUE(refuses(Words(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(length))));
  }
  words.push_back(0);
  EXPECT_TRUE(refuses(words));
}

TEST_F(TypeDescriptionTest, Counts_and_shapes_that_make_no_sense_are_refused) {
  constexpr std::int64_t strided = 1;
  constexpr std::int64_t sequence = 4;
  EXPECT_TRUE(refuses({0, 4, 0, 0, -1}));                             // a run of -1 bytes
  EXPECT_TRUE(refuses({0, 4, strided, 0, -3, 8, 4}));                 // -3 of them
  EXPECT_TRUE(refuses({0, 4, strided, 0, INT64_MAX, INT64_MAX, 4}));  // beyond 64 bits
  EXPECT_TRUE(refuses({0, 4, 77, 0, 4}));                             // no such shape
  EXPECT_TRUE(refuses({0, 4, sequence | 1000 << 8, 0, 0}));           // a list of 1000 in a word
  Words deep = {0, 4};
  for (int level = 0; level < 600; ++level) deep.insert(deep.end(), {2, 0, 1, 4});
  deep.insert(deep.end(), {0, 0, 4});
  EXPECT_TRUE(refuses(deep));
}

/// Nothing but errors, or types, comes of random words: run with sanitizers.
TEST_F(TypeDescriptionTest, Random_words_do_no_harm) {
  std::mt19937 random(1);
  const Words good = describe_type(type(vector(3, 1, 2, vector(5, 2, 3, MPI_INT))));
  int made = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    Words words = good;
    for (unsigned change = 0; change <= random() % 3; ++change) {
      words[random() % words.size()] = static_cast<std::int64_t>(random() % 40) - 5;
    }
    made += described_type(library, words).ok() ? 1 : 0;
  }
  EXPECT_GT(made, 0);
  EXPECT_LT(made, 2000);
}

}  // namespace
}  // namespace fulmar::mpi
