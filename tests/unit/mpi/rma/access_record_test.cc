// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/access_record.h"

#include "mpi/datatype/calls.h"
#include "mpi/op/op.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using wire::RmaAccess;
using wire::RmaCall;

class AccessRecordTest : public Objects {
 protected:
  static RmaAccess by(std::uint32_t origin, RmaCall call, std::uint8_t flags = 0) {
    RmaAccess access{};
    access.origin = origin;
    access.call = static_cast<std::uint8_t>(call);
    access.flags = flags;
    return access;
  }
  static RmaAccess accumulate(std::uint32_t origin, OpCode op, std::uint32_t element) {
    RmaAccess access = by(origin, RmaCall::accumulate);
    access.op = static_cast<std::uint8_t>(op);
    access.element = element;
    return access;
  }
  /// Whether an access to `bytes` bytes at `place` conflicts.
  bool conflicts(const RmaAccess& access, std::int64_t place, std::int64_t bytes) {
    return record_.add(access, place, bytes, type(MPI_BYTE)).has_value();
  }

  AccessRecord record_;
};

TEST_F(AccessRecordTest, Bytes_that_touch_do_not_conflict_and_those_that_overlap_do) {
  EXPECT_FALSE(conflicts(by(0, RmaCall::put), 8, 8));
  EXPECT_FALSE(conflicts(by(1, RmaCall::put), 0, 8));
  EXPECT_FALSE(conflicts(by(1, RmaCall::put), 16, 8));
  const auto found = record_.add(by(2, RmaCall::get), 15, 1, type(MPI_BYTE));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->later.origin, 2U);
  EXPECT_EQ(found->later.begin, 15);
  EXPECT_EQ(found->later.end, 16);
  EXPECT_EQ(found->earlier.origin, 0U);
  EXPECT_EQ(found->earlier.begin, 8);
  EXPECT_EQ(found->earlier.end, 16);
  EXPECT_EQ(found->earlier.number, 1U);
}

TEST_F(AccessRecordTest, Accumulates_need_one_operation_and_type_unless_they_are_of_one_origin) {
  EXPECT_FALSE(conflicts(accumulate(0, OpCode::sum, 1), 0, 8));
  EXPECT_FALSE(conflicts(accumulate(0, OpCode::prod, 2), 0, 8));
  record_.forget(0, AccessRecord::Which::all);
  EXPECT_FALSE(conflicts(accumulate(0, OpCode::sum, 1), 0, 8));
  EXPECT_FALSE(conflicts(accumulate(1, OpCode::sum, 1), 0, 8));
  EXPECT_TRUE(conflicts(accumulate(2, OpCode::prod, 1), 0, 8));
  EXPECT_TRUE(conflicts(accumulate(3, OpCode::sum, 2), 0, 8));
}

TEST_F(AccessRecordTest, What_is_ordered_is_forgotten) {
  EXPECT_FALSE(conflicts(by(0, RmaCall::get), 0, 8));
  EXPECT_FALSE(conflicts(by(0, RmaCall::put), 8, 8));
  record_.forget(0, AccessRecord::Which::reads);
  EXPECT_FALSE(conflicts(by(1, RmaCall::put), 0, 8));
  EXPECT_TRUE(conflicts(by(1, RmaCall::put), 8, 8));
  record_.forget(0, AccessRecord::Which::all);
  record_.forget(1, AccessRecord::Which::all);
  EXPECT_FALSE(conflicts(by(2, RmaCall::put), 0, 16));
  record_.forget_all();
  EXPECT_FALSE(conflicts(by(3, RmaCall::put), 0, 16));
}

TEST_F(AccessRecordTest, Epochs_of_fences_are_told_apart_before_the_last_one_is_forgotten) {
  EXPECT_FALSE(conflicts(by(0, RmaCall::put), 0, 8));
  EXPECT_FALSE(conflicts(by(1, RmaCall::put, wire::rma_odd_fence), 0, 8)) << "came early";
  record_.forget_fence(0);
  EXPECT_TRUE(conflicts(by(0, RmaCall::put, wire::rma_odd_fence), 0, 8));
}

TEST_F(AccessRecordTest, Elements_with_gaps_conflict_where_they_lie) {
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_hvector(library, Form::plain, 4, 1, 16, type(MPI_INT), strided).ok());
  EXPECT_FALSE(record_.add(by(0, RmaCall::put), 0, 1, type(strided)));
  EXPECT_FALSE(record_.add(by(1, RmaCall::put), 4, 1, type(strided)));
  EXPECT_FALSE(conflicts(by(2, RmaCall::put), 8, 8));
  EXPECT_TRUE(conflicts(by(2, RmaCall::put), 50, 1));
  EXPECT_TRUE(type_free(library, {&strided, &type(strided)}).ok());
}

TEST_F(AccessRecordTest, Room_is_bounded_and_neighbours_take_one_place) {
  for (int i = 0; i < 100'000; ++i) {
    ASSERT_FALSE(conflicts(by(0, RmaCall::put), std::int64_t{8} * i, 8));
  }
  EXPECT_EQ(record_.left_out(), 0U);
  EXPECT_TRUE(conflicts(by(1, RmaCall::put), 8 * 99'999, 1));
  record_.forget_all();
  constexpr auto most = static_cast<std::int64_t>(AccessRecord::most_accesses);
  for (std::int64_t i = 0; i < most + 10; ++i) {
    ASSERT_FALSE(conflicts(by(0, RmaCall::put), 16 * i, 8));
  }
  EXPECT_EQ(record_.left_out(), 10U);
  EXPECT_TRUE(conflicts(by(1, RmaCall::put), 16 * (most - 1), 1));
  EXPECT_FALSE(conflicts(by(1, RmaCall::put), 16 * most, 1)) << "found no room";
}

TEST_F(AccessRecordTest, Reads_that_their_origin_waits_for_leave_nothing) {
  EXPECT_FALSE(conflicts(by(0, RmaCall::get, wire::rma_with_request), 0, 8));
  EXPECT_FALSE(conflicts(by(0, RmaCall::put), 0, 8));
  EXPECT_TRUE(conflicts(by(1, RmaCall::get, wire::rma_with_request), 0, 8));
}

}  // namespace
}  // namespace fulmar::mpi
