// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <array>

#include "mpi/datatype/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;

class MatchTest : public Objects {
 protected:
  MPI_Datatype matched(int type_class, int size) {
    MPI_Datatype out = MPI_DATATYPE_NULL;
    EXPECT_TRUE(type_match_size(library, type_class, size, out).ok());
    return out;
  }
};

TEST_F(MatchTest, Match_size_gives_the_sized_type) {
  EXPECT_EQ(matched(MPI_TYPECLASS_INTEGER, 1), MPI_INTEGER1);
  EXPECT_EQ(matched(MPI_TYPECLASS_INTEGER, 8), MPI_INTEGER8);
  EXPECT_EQ(matched(MPI_TYPECLASS_REAL, 4), MPI_REAL4);
  EXPECT_EQ(matched(MPI_TYPECLASS_REAL, 16), MPI_REAL16);
  EXPECT_EQ(matched(MPI_TYPECLASS_COMPLEX, 8), MPI_COMPLEX8);
  EXPECT_EQ(matched(MPIX_TYPECLASS_LOGICAL, 2), MPI_LOGICAL2);
  MPI_Datatype out = MPI_DATATYPE_NULL;
  EXPECT_EQ(class_of(type_match_size(library, MPI_TYPECLASS_INTEGER, 3, out)), ErrorClass::arg);
  EXPECT_EQ(class_of(type_match_size(library, MPI_TYPECLASS_REAL, 2, out)), ErrorClass::arg);
  EXPECT_EQ(class_of(type_match_size(library, 5, 4, out)), ErrorClass::arg);
}

TEST_F(MatchTest, F90_types_are_kept_and_described) {
  kept[static_cast<std::size_t>(ObjectKind::datatype)] = 3;
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Datatype again = MPI_DATATYPE_NULL;
  MPI_Datatype integer = MPI_DATATYPE_NULL;
  MPI_Datatype complex = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_f90_real(library, 15, MPI_UNDEFINED, real).ok());
  ASSERT_TRUE(type_create_f90_real(library, 15, MPI_UNDEFINED, again).ok());
  ASSERT_TRUE(type_create_f90_integer(library, 9, integer).ok());
  ASSERT_TRUE(type_create_f90_complex(library, 6, 37, complex).ok());
  EXPECT_EQ(real, again);
  EXPECT_EQ(type(real).size, 8);
  EXPECT_EQ(type(integer).size, 4);
  EXPECT_EQ(type(complex).size, 8);
  EXPECT_TRUE(type(real).committed);
  EXPECT_EQ(type(real).basic, type(MPI_REAL8).basic);

  int ni = 0;
  int na = 0;
  int nd = 0;
  int combiner = 0;
  ASSERT_TRUE(type_get_envelope(library, type(real), ni, na, nd, combiner).ok());
  EXPECT_EQ(combiner, MPI_COMBINER_F90_REAL);
  EXPECT_EQ((std::array{ni, na, nd}), (std::array{2, 0, 0}));
  std::array<int, 2> integers{};
  ASSERT_TRUE(type_get_contents(library, type(real), 2, 0, 0, integers, {}, {}).ok());
  EXPECT_EQ(integers, (std::array<int, 2>{15, MPI_UNDEFINED}));
  ASSERT_TRUE(type_get_envelope(library, type(integer), ni, na, nd, combiner).ok());
  EXPECT_EQ(ni, 1);
  EXPECT_EQ(class_of(type_free(library, {&real, &type(real)})), ErrorClass::type);

  EXPECT_EQ(class_of(type_create_f90_real(library, 40, MPI_UNDEFINED, again)), ErrorClass::arg);
  EXPECT_EQ(class_of(type_create_f90_real(library, MPI_UNDEFINED, MPI_UNDEFINED, again)),
            ErrorClass::arg);
  EXPECT_EQ(class_of(type_create_f90_integer(library, 39, again)), ErrorClass::arg);
}

TEST_F(MatchTest, Value_index_finds_the_pairs) {
  const auto pair = [&](MPI_Datatype value, MPI_Datatype index) {
    MPI_Datatype out = MPI_INT;
    EXPECT_TRUE(type_get_value_index(library, type(value), type(index), out).ok());
    return out;
  };
  EXPECT_EQ(pair(MPI_FLOAT, MPI_INT), MPI_FLOAT_INT);
  EXPECT_EQ(pair(MPI_INT, MPI_INT), MPI_2INT);
  EXPECT_EQ(pair(MPI_LONG_DOUBLE, MPI_INT), MPI_LONG_DOUBLE_INT);
  EXPECT_EQ(pair(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION), MPI_2DOUBLE_PRECISION);
  EXPECT_EQ(pair(MPI_C_BOOL, MPI_INT), MPI_DATATYPE_NULL);
}

TEST_F(MatchTest, Darray_refuses_bad_grids) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  const auto make = [&](int processes, int rank, int size, int kind, int argument, int grid) {
    return class_of(type_create_darray(library, Form::plain, processes, rank, 1, {&size, 1},
                                       {&kind, 1}, {&argument, 1}, {&grid, 1}, MPI_ORDER_C,
                                       type(MPI_INT), out));
  };
  EXPECT_EQ(make(2, 2, 8, MPI_DISTRIBUTE_BLOCK, 4, 2), ErrorClass::arg);
  EXPECT_EQ(make(2, 0, 8, MPI_DISTRIBUTE_BLOCK, 3, 2), ErrorClass::arg);
  EXPECT_EQ(make(2, 0, 8, MPI_DISTRIBUTE_BLOCK, 0, 2), ErrorClass::arg);
  EXPECT_EQ(make(2, 0, 0, MPI_DISTRIBUTE_BLOCK, 4, 2), ErrorClass::arg);
  EXPECT_EQ(make(2, 0, 8, 99, 4, 2), ErrorClass::arg);
  EXPECT_EQ(make(2, 0, 8, MPI_DISTRIBUTE_NONE, 4, 2), ErrorClass::arg);
  EXPECT_EQ(make(3, 0, 8, MPI_DISTRIBUTE_CYCLIC, 4, 2), ErrorClass::arg);
  EXPECT_EQ(out, MPI_DATATYPE_NULL);
}

}  // namespace
}  // namespace fulmar::mpi
