// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/filetype_shape.h"

#include <random>
#include <set>
#include <vector>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/view.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

class FiletypeShapeTest : public Objects {
 protected:
  void TearDown() override {
    for (MPI_Datatype handle : made_) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
    Objects::TearDown();
  }
  /// `count` blocks of `block` integers, `stride` bytes apart, repeated at `extent`.
  const Datatype& strided(Count count, Count block, MPI_Aint stride, MPI_Aint extent) {
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    EXPECT_TRUE(
        type_create_hvector(library, Form::plain, count, block, stride, type(MPI_INT), blocks)
            .ok());
    made_.push_back(blocks);
    return resized(blocks, extent);
  }
  const Datatype& list(const std::vector<int>& lengths, const std::vector<int>& places,
                       MPI_Aint extent) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    EXPECT_TRUE(type_indexed(library, Form::plain, static_cast<Count>(lengths.size()),
                             CountArray(lengths.data(), lengths.size()),
                             CountArray(places.data(), places.size()), type(MPI_INT), made)
                    .ok());
    made_.push_back(made);
    return resized(made, extent);
  }
  const Datatype& resized(MPI_Datatype old, MPI_Aint extent) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    EXPECT_TRUE(type_create_resized(library, Form::plain, type(old), 0, extent, made).ok());
    made_.push_back(made);
    return type(made);
  }
  /// Where byte `at` of the stream lies.
  static Count offset_of(const Datatype& filetype, Count at) {
    const View view(filetype, 1);
    iovec first{};
    (void)view.segments(nullptr, static_cast<std::uint64_t>(at % filetype.size), 1, {&first, 1});
    return static_cast<Count>(reinterpret_cast<std::uintptr_t>(first.iov_base)) +
           at / filetype.size * filetype.extent;
  }

  std::vector<MPI_Datatype> made_;
};

TEST_F(FiletypeShapeTest, Blocks_in_order_go_forward) {
  for (const Datatype* each : {&strided(3, 2, 12, 36), &strided(3, 2, 8, 24),
                               &list({1, 2}, {0, 3}, 20), &list({0, 1, 0}, {9, 1, 0}, 8)}) {
    const FiletypeShape shape = shape_of(*each);
    EXPECT_TRUE(shape.forward);
    EXPECT_TRUE(shape.ordered);
    EXPECT_FALSE(shape.overlaps);
  }
  EXPECT_EQ(shape_of(strided(3, 2, 12, 36)).runs, 3);
}

TEST_F(FiletypeShapeTest, Repetitions_may_lie_between_each_other) {
  const FiletypeShape between = shape_of(list({1, 1}, {0, 3}, 8));
  EXPECT_FALSE(between.forward);
  EXPECT_TRUE(between.ordered);
  EXPECT_FALSE(between.overlaps) << "one begins at even integers, the other at odd ones";
  EXPECT_TRUE(between.forward_once);
  for (const Datatype* over : {&list({1, 1}, {0, 2}, 8), &list({1}, {0}, 2), &list({1}, {0}, 0)}) {
    const FiletypeShape shape = shape_of(*over);
    EXPECT_FALSE(shape.forward);
    EXPECT_TRUE(shape.forward_once);
    EXPECT_FALSE(shape.overlaps) << "by repetitions only";
  }
}

TEST_F(FiletypeShapeTest, What_goes_backwards_is_no_order) {
  EXPECT_FALSE(shape_of(list({1, 1}, {4, 0}, 40)).ordered);
  const FiletypeShape same = shape_of(list({1, 1}, {2, 2}, 40));
  EXPECT_TRUE(same.ordered);
  EXPECT_TRUE(same.overlaps);
  EXPECT_FALSE(same.forward);
  EXPECT_FALSE(same.forward_once);
}

/// Beside what one finds who looks at every byte.
TEST_F(FiletypeShapeTest, Agree_with_a_look_at_every_byte) {
  std::mt19937 random(1);
  int kinds[2][2] = {};
  for (int turn = 0; turn < 400; ++turn) {
    std::vector<int> lengths;
    std::vector<int> places;
    for (int i = 0, at = 0; i < 4; ++i) {
      lengths.push_back(static_cast<int>(random() % 3));
      places.push_back(at);
      at += static_cast<int>(random() % 6);
    }
    lengths[0] = 1;
    const Datatype& filetype = list(lengths, places, static_cast<MPI_Aint>(random() % 60));
    const FiletypeShape shape = shape_of(filetype);
    constexpr Count repetitions = 40;
    std::set<Count> bytes;
    bool forward = true;
    bool forward_once = true;
    bool overlaps = false;
    Count last = -1;
    for (Count at = 0; at < repetitions * filetype.size; ++at) {
      const Count offset = offset_of(filetype, at);
      forward = forward && offset > last;
      last = offset;
      if (at >= filetype.size) continue;
      forward_once = forward;
      overlaps = !bytes.insert(offset).second || overlaps;
    }
    EXPECT_EQ(shape.forward_once, forward_once);
    EXPECT_EQ(shape.forward, forward);
    EXPECT_EQ(shape.overlaps, overlaps);
    ++kinds[forward ? 1 : 0][overlaps ? 1 : 0];
    if (filetype.extent == 0) continue;
    for (Count end = 0; end < 100; end += 7) {
      Count element = 0;
      while (offset_of(filetype, element * 4) < end) ++element;
      EXPECT_EQ(first_element_from(filetype, 4, end), element);
    }
  }
  EXPECT_GT(kinds[0][0], 10);
  EXPECT_GT(kinds[0][1], 10);
  EXPECT_GT(kinds[1][0], 10);
}

TEST_F(FiletypeShapeTest, An_element_beyond_all_streams_is_none) {
  const Count size = Count{1} << 47;
  const Datatype& filetype = strided(1, size / 4, 4, 4);
  EXPECT_EQ(first_element_from(filetype, 4, size - 4), size / 4 - 1);
  EXPECT_EQ(first_element_from(filetype, 4, Count{1} << 50), -1);
}

}  // namespace
}  // namespace fulmar::mpi
