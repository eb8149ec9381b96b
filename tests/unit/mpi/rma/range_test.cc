// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/range.h"

#include <array>

#include "mpi/datatype/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

class RangeTest : public Objects {
 protected:
  RangeTest() { win_.flavor = MPI_WIN_FLAVOR_DYNAMIC; }
  void TearDown() override {
    for (MPI_Datatype handle : made_) {
      EXPECT_TRUE(type_free(library, {&handle, &type(handle)}).ok());
    }
    Objects::TearDown();
  }
  void attach(std::int64_t address, std::int64_t bytes) {
    win_.attached.push_back(
        {static_cast<std::uint64_t>(address), static_cast<std::uint64_t>(bytes)});
  }
  [[nodiscard]] bool holds(std::int64_t address, std::int64_t count, MPI_Datatype handle) {
    return is_in_window(win_, RmaTarget{}, address, count, type(handle));
  }
  MPI_Datatype strided(Count count, MPI_Aint stride) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    EXPECT_TRUE(
        type_create_hvector(library, Form::plain, count, 1, stride, type(MPI_INT), made).ok());
    made_.push_back(made);
    return made;
  }

  std::vector<MPI_Datatype> made_;
  Win win_{library};
};

TEST_F(RangeTest, Pieces_that_touch_are_one_and_gaps_between_runs_do_not_matter) {
  attach(4096, 100);
  attach(4196, 100);
  attach(5000, 8);
  EXPECT_TRUE(holds(4096, 50, MPI_INT));
  EXPECT_FALSE(holds(4096, 51, MPI_INT));
  EXPECT_FALSE(holds(4092, 2, MPI_INT));
  EXPECT_TRUE(holds(4096, 1, strided(2, 904)));
  EXPECT_FALSE(holds(4096, 1, strided(2, 800)));
}

TEST_F(RangeTest, Nothing_is_attached_around_the_end_of_the_address_space) {
  attach(4096, 100);
  EXPECT_FALSE(holds(-16, 8, MPI_INT));
  EXPECT_FALSE(holds(-16, 2, MPI_INT));
  EXPECT_FALSE(holds(-16, 1, strided(2, 4112)));
}

TEST_F(RangeTest, Elements_over_each_other_are_looked_at_up_to_a_limit) {
  attach(4096, 100);
  attach(8192, 100);
  const MPI_Datatype both = strided(2, 4096);
  MPI_Datatype same_place = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_resized(library, Form::plain, type(both), 0, 0, same_place).ok());
  made_.push_back(same_place);
  EXPECT_TRUE(holds(4096, 1000, same_place));
  EXPECT_FALSE(holds(4096, std::int64_t{1} << 40, same_place));
}

}  // namespace
}  // namespace fulmar::mpi
