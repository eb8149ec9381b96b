// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/stand_in.h"

#include <array>
#include <cstring>

#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using StandInTest = Objects;

TEST_F(StandInTest, Room_is_all_ones) {
  StandIn stand_in;
  const auto* doubles = static_cast<const double*>(stand_in.buffer(type(MPI_DOUBLE), 3));
  ASSERT_NE(doubles, nullptr);
  for (int i = 0; i < 3; ++i) EXPECT_NE(doubles[i], doubles[i]);  // NaN
  EXPECT_NE(stand_in.buffer(type(MPI_INT), 0), nullptr);
  EXPECT_FALSE(stand_in.failed());
}

TEST_F(StandInTest, Room_that_is_not_there_is_a_failure) {
  StandIn stand_in;
  EXPECT_EQ(stand_in.buffer(type(MPI_INT), Count{1} << 58), nullptr);
  EXPECT_TRUE(stand_in.failed());
}

TEST_F(StandInTest, Negative_and_missing_counts_are_0) {
  StandIn stand_in;
  const std::array<int, 3> given = {4, -1, 7};
  const CountArray counts = stand_in.counts({given.data(), given.size()}, 3);
  EXPECT_EQ(counts[0], 4);
  EXPECT_EQ(counts[1], 0);
  EXPECT_EQ(counts[2], 7);
  EXPECT_EQ(stand_in.counts({}, 2)[1], 0);
}

TEST_F(StandInTest, Replaced_blocks_lie_apart) {
  StandIn stand_in;
  const std::array<int, 3> counts = {2, 0, 3};
  Blocks blocks =
      Blocks::various(nullptr, {counts.data(), counts.size()}, CountArray(), &type(MPI_INT));
  stand_in.replace(blocks, 3);
  ASSERT_NE(blocks.address, nullptr);
  auto* const begin = static_cast<int*>(blocks.address);
  EXPECT_EQ(blocks[0].address, begin);
  EXPECT_EQ(blocks[2].address, begin + 2);
  std::memset(blocks[2].address, 0, 3 * sizeof(int));
}

TEST_F(StandInTest, Replaced_blocks_have_their_own_types) {
  StandIn stand_in;
  const std::array<const Datatype*, 2> types = {&type(MPI_DOUBLE), &type(MPI_CHAR)};
  const std::array<int, 2> counts = {1, 5};
  Blocks blocks = Blocks::various(nullptr, {counts.data(), counts.size()}, CountArray(), nullptr);
  blocks.types = types.data();
  stand_in.replace(blocks, 2);
  const double number = *static_cast<double*>(blocks[0].address);
  EXPECT_NE(number, number);
  EXPECT_EQ(static_cast<char*>(blocks[1].address)[4], '\xff');
}

TEST_F(StandInTest, What_can_be_read_stays) {
  StandIn stand_in;
  std::array<int, 4> own = {};
  const std::array<int, 2> counts = {2, -2};
  const std::array<int, 2> displs = {1, 3};
  Blocks blocks =
      Blocks::various(own.data(), {counts.data(), 2}, {displs.data(), 2}, &type(MPI_INT));
  stand_in.repair(blocks, 2);
  EXPECT_EQ(blocks[0].address, &own[1]);
  EXPECT_EQ(blocks[1].count, 0);
  Blocks missing = Blocks::equal(Data{nullptr, 2, &type(MPI_INT)});
  stand_in.repair(missing, 2);
  EXPECT_NE(missing.address, nullptr);
}

TEST_F(StandInTest, Operation_leaves_its_right_operand) {
  const StandIn stand_in;
  const int left = 3;
  int right = 4;
  apply_op(stand_in.any_op(), type(MPI_INT), &left, &right, 1);
  EXPECT_EQ(right, 4);
  EXPECT_TRUE(check_reduction(stand_in.any_op(), type(MPI_DOUBLE)).ok());
}

TEST_F(StandInTest, Null_pointers_lack_a_buffer_where_there_are_elements) {
  std::array<int, 2> counts = {0, 3};
  const std::array<int, 2> displs = {0, 100000};
  Blocks blocks = Blocks::various(nullptr, {counts.data(), 2}, {displs.data(), 2}, &type(MPI_INT));
  EXPECT_TRUE(lacks_buffer(blocks, 2));
  const std::array<const Datatype*, 2> types = {&type(MPI_INT), &type(MPI_INT)};
  blocks.types = types.data();  // displacements in bytes may be addresses
  EXPECT_FALSE(lacks_buffer(blocks, 2));
  counts[0] = 1;
  EXPECT_TRUE(lacks_buffer(blocks, 2));
  counts = {0, 0};
  EXPECT_FALSE(lacks_buffer(blocks, 2));
  blocks.address = MPI_IN_PLACE;
  EXPECT_TRUE(lacks_buffer(blocks, 2));
}

}  // namespace
}  // namespace fulmar::mpi
