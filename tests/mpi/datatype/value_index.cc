// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Type_get_value_index: named pairs, unnamed ones, pairs that do not exist, and MINLOC and
// MAXLOC on them (MPI 5.0 section 6.9.4).
// ranks: 1 2 5
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "support/check.h"

namespace {

MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
  MPI_Datatype pair = MPI_INT;
  test::expect_class(MPI_Type_get_value_index(value, index, &pair), MPI_SUCCESS, "a pair");
  return pair;
}

void named() {
  const MPI_Datatype table[][3] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},     {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},       {MPI_INT, MPI_INT, MPI_2INT},
      {MPI_SHORT, MPI_INT, MPI_SHORT_INT},     {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
  for (const auto& [value, index, pair] : table) {
    test::expect(pair_of(value, index) == pair, "the named pair");
  }
}

void missing() {
  const MPI_Datatype table[][2] = {
      {MPI_DOUBLE, MPI_FLOAT},  {MPI_FLOAT, MPI_FLOAT}, {MPI_BYTE, MPI_INT},
      {MPI_CHARACTER, MPI_INT}, {MPI_C_BOOL, MPI_INT},  {MPI_C_DOUBLE_COMPLEX, MPI_INT},
      {MPI_INT, MPI_BYTE},      {MPI_2INT, MPI_INT},    {MPI_INT, MPI_2INT},
      {MPI_WCHAR, MPI_INT},     {MPI_PACKED, MPI_INT}};
  for (const auto& [value, index] : table) {
    test::expect(pair_of(value, index) == MPI_DATATYPE_NULL, "no such pair");
  }
  MPI_Datatype derived = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &derived);
  test::expect(pair_of(derived, MPI_INT) == MPI_DATATYPE_NULL, "of a derived type");
  MPI_Type_free(&derived);
  MPI_Datatype pair = MPI_INT;
  test::expect_class(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE,
                     "no value");
  test::expect_class(MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair), MPI_ERR_TYPE,
                     "no index");
}

void described() {
  const MPI_Datatype pair = pair_of(MPI_DOUBLE, MPI_INT64_T);
  test::expect(pair != MPI_DATATYPE_NULL, "an unnamed pair");
  test::expect(pair_of(MPI_DOUBLE, MPI_INT64_T) == pair, "the same each time");
  int integers = -1;
  int addresses = -1;
  int types = -1;
  int combiner = -1;
  MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner);
  test::expect_equal(combiner, MPI_COMBINER_VALUE_INDEX, "combiner");
  test::expect(integers == 0 && addresses == 0 && types == 2, "envelope");
  MPI_Datatype parts[2] = {};
  int none = 0;
  MPI_Aint no_address = 0;
  test::expect_class(MPI_Type_get_contents(pair, 0, 0, 2, &none, &no_address, parts), MPI_SUCCESS,
                     "contents");
  test::expect(parts[0] == MPI_DOUBLE && parts[1] == MPI_INT64_T, "contents");
  MPI_Datatype copy = pair;
  test::expect_class(MPI_Type_free(&copy), MPI_ERR_TYPE, "predefined");
  int length = -1;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Type_get_name(pair, name, &length);
  test::expect_equal(length, 0, "unnamed");
}

template <class Value, class Index>
void located(MPI_Datatype value_type, MPI_Datatype index_type, Value low, Value high) {
  struct Pair {
    Value value;
    Index index;
  };
  const MPI_Datatype type = pair_of(value_type, index_type);
  int size = -1;
  MPI_Aint lb = -1;
  MPI_Aint extent = -1;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &lb, &extent);
  test::expect_equal(size, sizeof(Value) + sizeof(Index), "size");
  test::expect_equal(extent, sizeof(Pair), "extent");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int ranks = test::size_of(MPI_COMM_WORLD);
  // Every rank has both values, at indices that fall with the rank.
  const auto first = static_cast<Index>(100 - rank);
  const Pair in[2] = {{rank % 2 == 0 ? low : high, first}, {high, first}};
  Pair least[2] = {};
  Pair most[2] = {};
  test::expect_class(MPI_Allreduce(in, least, 2, type, MPI_MINLOC, MPI_COMM_WORLD), MPI_SUCCESS,
                     "MINLOC");
  test::expect_class(MPI_Allreduce(in, most, 2, type, MPI_MAXLOC, MPI_COMM_WORLD), MPI_SUCCESS,
                     "MAXLOC");
  const int last_even = (ranks - 1) / 2 * 2;
  test::expect(least[0].value == low, "the smallest");
  test::expect(least[0].index == static_cast<Index>(100 - last_even), "its smallest index");
  test::expect(most[1].value == high, "the largest");
  test::expect(most[1].index == static_cast<Index>(100 - (ranks - 1)), "its smallest index");
  test::expect_class(MPI_Allreduce(in, most, 2, type, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP, "SUM");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  named();
  missing();
  described();
  located<double, std::int64_t>(MPI_DOUBLE, MPI_INT64_T, -1.5, 1e300);
  located<float, std::int64_t>(MPI_FLOAT, MPI_COUNT, -1.5F, 1e30F);
  located<std::int64_t, std::int64_t>(MPI_AINT, MPI_AINT, -5, std::int64_t{1} << 60);
  located<unsigned long, unsigned char>(MPI_UNSIGNED_LONG, MPI_UNSIGNED_CHAR, 3, ~0UL);
  located<long double, short>(MPI_LONG_DOUBLE, MPI_SHORT, -1.5L, 1e4000L);
  located<signed char, int>(MPI_SIGNED_CHAR, MPI_INT, -128, 127);
  located<std::uint16_t, std::uint64_t>(MPI_UINT16_T, MPI_UINT64_T, 0, 0xffff);
  located<double, double>(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, -2, 2);
  return test::finish();
}
