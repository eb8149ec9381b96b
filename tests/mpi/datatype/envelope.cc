// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// How datatypes were made (MPI 5.0 section 5.1.13): every constructor in both forms. What the `_c`
// form takes as MPI_Count comes back among the large counts, however small it is.
// ranks: 1

#include <mpi.h>

#include <array>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

using Counts = std::vector<MPI_Count>;
using Addresses = std::vector<MPI_Aint>;
using Integers = std::vector<int>;

struct Expected {
  int combiner;
  Integers integers;
  Addresses addresses;
  Counts counts;
  std::vector<MPI_Datatype> types;
};

/// The inquiries for large counts, which know all types.
void check_large_inquiry(MPI_Datatype type, const Expected& expected, const char* call) {
  MPI_Count integers = -1;
  MPI_Count addresses = -1;
  MPI_Count counts = -1;
  MPI_Count types = -1;
  int combiner = -1;
  expect_class(MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types, &combiner),
               MPI_SUCCESS, call);
  expect_equal(combiner, expected.combiner, call);
  expect_equal(integers, expected.integers.size(), call);
  expect_equal(addresses, expected.addresses.size(), call);
  expect_equal(counts, expected.counts.size(), call);
  expect_equal(types, expected.types.size(), call);
  Expected found{combiner, Integers(16), Addresses(16), Counts(16), {}};
  found.types.resize(16, MPI_DATATYPE_NULL);
  expect_class(
      MPI_Type_get_contents_c(type, 16, 16, 16, 16, found.integers.data(), found.addresses.data(),
                              found.counts.data(), found.types.data()),
      MPI_SUCCESS, call);
  found.integers.resize(expected.integers.size());
  found.addresses.resize(expected.addresses.size());
  found.counts.resize(expected.counts.size());
  found.types.resize(expected.types.size());
  expect(found.integers == expected.integers, call);
  expect(found.addresses == expected.addresses, call);
  expect(found.counts == expected.counts, call);
  expect(found.types == expected.types, call);
}

/// The plain ones, which refuse types with large counts.
void check_plain_inquiry(MPI_Datatype type, const Expected& expected, const char* call) {
  int integers = -1;
  int addresses = -1;
  int types = -1;
  int combiner = -1;
  std::array<int, 16> all_integers{};
  std::array<MPI_Aint, 16> all_addresses{};
  std::array<MPI_Datatype, 16> all_types{};
  const int wanted = expected.counts.empty() ? MPI_SUCCESS : MPI_ERR_TYPE;
  expect_class(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner), wanted, call);
  expect_class(MPI_Type_get_contents(type, 16, 16, 16, all_integers.data(), all_addresses.data(),
                                     all_types.data()),
               wanted, call);
  if (wanted != MPI_SUCCESS) return;
  expect_equal(combiner, expected.combiner, call);
  expect_equal(integers, expected.integers.size(), call);
  expect_equal(addresses, expected.addresses.size(), call);
  expect_equal(types, expected.types.size(), call);
}

/// `made` is where the call with this result has put the type.
void check(int code, const MPI_Datatype& made, const Expected& expected, const char* call) {
  expect_class(code, MPI_SUCCESS, call);
  if (code != MPI_SUCCESS) return;
  MPI_Datatype type = made;
  check_large_inquiry(type, expected, call);
  check_plain_inquiry(type, expected, call);
  MPI_Type_free(&type);
}

void blocks_of_one_type() {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  const std::vector<MPI_Datatype> old = {MPI_INT};
  check(MPI_Type_contiguous(5, MPI_INT, &t), t, {MPI_COMBINER_CONTIGUOUS, {5}, {}, {}, old},
        "MPI_Type_contiguous");
  check(MPI_Type_contiguous_c(5, MPI_INT, &t), t, {MPI_COMBINER_CONTIGUOUS, {}, {}, {5}, old},
        "MPI_Type_contiguous_c");
  check(MPI_Type_vector(2, 3, 4, MPI_INT, &t), t, {MPI_COMBINER_VECTOR, {2, 3, 4}, {}, {}, old},
        "MPI_Type_vector");
  check(MPI_Type_vector_c(2, 3, 4, MPI_INT, &t), t, {MPI_COMBINER_VECTOR, {}, {}, {2, 3, 4}, old},
        "MPI_Type_vector_c");
  check(MPI_Type_create_hvector(2, 3, -40, MPI_INT, &t), t,
        {MPI_COMBINER_HVECTOR, {2, 3}, {-40}, {}, old}, "MPI_Type_create_hvector");
  check(MPI_Type_create_hvector_c(2, 3, -40, MPI_INT, &t), t,
        {MPI_COMBINER_HVECTOR, {}, {}, {2, 3, -40}, old}, "MPI_Type_create_hvector_c");
  check(MPI_Type_create_resized(MPI_INT, -4, 12, &t), t,
        {MPI_COMBINER_RESIZED, {}, {-4, 12}, {}, old}, "MPI_Type_create_resized");
  check(MPI_Type_create_resized_c(MPI_INT, -4, 12, &t), t,
        {MPI_COMBINER_RESIZED, {}, {}, {-4, 12}, old}, "MPI_Type_create_resized_c");
  check(MPI_Type_dup(MPI_INT, &t), t, {MPI_COMBINER_DUP, {}, {}, {}, old}, "MPI_Type_dup");
  check(MPI_Type_contiguous_c(MPI_Count{1} << 40, MPI_INT, &t), t,
        {MPI_COMBINER_CONTIGUOUS, {}, {}, {MPI_Count{1} << 40}, old}, "a count beyond int");
}

void blocks_anywhere() {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  const std::vector<MPI_Datatype> old = {MPI_CHAR};
  const std::array<int, 2> lengths = {2, 1};
  const std::array<int, 2> displs = {5, -3};
  const std::array<MPI_Aint, 2> bytes = {5, -3};
  const std::array<MPI_Count, 2> large_lengths = {2, 1};
  const std::array<MPI_Count, 2> large_displs = {5, -3};
  check(MPI_Type_indexed(2, lengths.data(), displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_INDEXED, {2, 2, 1, 5, -3}, {}, {}, old}, "MPI_Type_indexed");
  check(MPI_Type_indexed_c(2, large_lengths.data(), large_displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_INDEXED, {}, {}, {2, 2, 1, 5, -3}, old}, "MPI_Type_indexed_c");
  check(MPI_Type_create_hindexed(2, lengths.data(), bytes.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_HINDEXED, {2, 2, 1}, {5, -3}, {}, old}, "MPI_Type_create_hindexed");
  check(MPI_Type_create_hindexed_c(2, large_lengths.data(), large_displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_HINDEXED, {}, {}, {2, 2, 1, 5, -3}, old}, "MPI_Type_create_hindexed_c");
  check(MPI_Type_create_indexed_block(2, 4, displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_INDEXED_BLOCK, {2, 4, 5, -3}, {}, {}, old}, "MPI_Type_create_indexed_block");
  check(MPI_Type_create_indexed_block_c(2, 4, large_displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_INDEXED_BLOCK, {}, {}, {2, 4, 5, -3}, old},
        "MPI_Type_create_indexed_block_c");
  check(MPI_Type_create_hindexed_block(2, 4, bytes.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_HINDEXED_BLOCK, {2, 4}, {5, -3}, {}, old}, "MPI_Type_create_hindexed_block");
  check(MPI_Type_create_hindexed_block_c(2, 4, large_displs.data(), MPI_CHAR, &t), t,
        {MPI_COMBINER_HINDEXED_BLOCK, {}, {}, {2, 4, 5, -3}, old},
        "MPI_Type_create_hindexed_block_c");
  const std::vector<MPI_Datatype> both = {MPI_INT, MPI_DOUBLE};
  check(MPI_Type_create_struct(2, lengths.data(), bytes.data(), both.data(), &t), t,
        {MPI_COMBINER_STRUCT, {2, 2, 1}, {5, -3}, {}, both}, "MPI_Type_create_struct");
  check(MPI_Type_create_struct_c(2, large_lengths.data(), large_displs.data(), both.data(), &t), t,
        {MPI_COMBINER_STRUCT, {}, {}, {2, 2, 1, 5, -3}, both}, "MPI_Type_create_struct_c");
}

/// Numbers that are no counts stay among the integers.
void arrays() {
  MPI_Datatype t = MPI_DATATYPE_NULL;
  const std::vector<MPI_Datatype> old = {MPI_INT};
  const std::array<int, 2> sizes = {4, 5};
  const std::array<int, 2> parts = {2, 3};
  const std::array<int, 2> starts = {1, 2};
  const std::array<MPI_Count, 2> large_sizes = {4, 5};
  const std::array<MPI_Count, 2> large_parts = {2, 3};
  const std::array<MPI_Count, 2> large_starts = {1, 2};
  const int order = MPI_ORDER_FORTRAN;
  check(MPI_Type_create_subarray(2, sizes.data(), parts.data(), starts.data(), order, MPI_INT, &t),
        t, {MPI_COMBINER_SUBARRAY, {2, 4, 5, 2, 3, 1, 2, order}, {}, {}, old},
        "MPI_Type_create_subarray");
  check(MPI_Type_create_subarray_c(2, large_sizes.data(), large_parts.data(), large_starts.data(),
                                   order, MPI_INT, &t),
        t, {MPI_COMBINER_SUBARRAY, {2, order}, {}, {4, 5, 2, 3, 1, 2}, old},
        "MPI_Type_create_subarray_c");
  const std::array<int, 2> kinds = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const std::array<int, 2> arguments = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  const std::array<int, 2> grid = {2, 3};
  check(MPI_Type_create_darray(6, 1, 2, sizes.data(), kinds.data(), arguments.data(), grid.data(),
                               order, MPI_INT, &t),
        t,
        {MPI_COMBINER_DARRAY,
         {6, 1, 2, 4, 5, kinds[0], kinds[1], arguments[0], 2, 2, 3, order},
         {},
         {},
         old},
        "MPI_Type_create_darray");
  check(MPI_Type_create_darray_c(6, 1, 2, large_sizes.data(), kinds.data(), arguments.data(),
                                 grid.data(), order, MPI_INT, &t),
        t,
        {MPI_COMBINER_DARRAY,
         {6, 1, 2, kinds[0], kinds[1], arguments[0], 2, 2, 3, order},
         {},
         {4, 5},
         old},
        "MPI_Type_create_darray_c");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  blocks_of_one_type();
  blocks_anywhere();
  arrays();
  return test::finish();
}
