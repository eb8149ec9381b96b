// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What MPI_Abi_set_fortran_booleans changes: the values that logical operations and external32 read
// and write as Fortran's logicals of one size (MPI 5.0 sections 6.9.2, 14.5.2 and 20.4). Here 7 is
// true and 5 is false, in 4 bytes; compilers have 1 or -1, and 0.
// ranks: 1 2 3
#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/check.h"

namespace {

constexpr std::int32_t yes = 7;
constexpr std::int32_t no = 5;
constexpr int count = 1000;

/// Element i of a rank: all combinations of two ranks appear.
bool operand(int rank, int i) { return ((i >> rank) & 1) != 0; }

bool expected(MPI_Op op, int ranks, int i) {
  int trues = 0;
  for (int rank = 0; rank < ranks; ++rank) trues += operand(rank, i) ? 1 : 0;
  if (op == MPI_LAND) return trues == ranks;
  return op == MPI_LOR ? trues > 0 : trues % 2 == 1;
}

/// Reduces with all three operations; the logicals are `T`s that are `truth` or `lie`.
template <class T>
void reduce(MPI_Datatype type, T truth, T lie, const char* what) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int ranks = test::size_of(MPI_COMM_WORLD);
  std::vector<T> mine;
  for (int i = 0; i < count; ++i) mine.push_back(operand(rank, i) ? truth : lie);
  for (MPI_Op op : {MPI_LAND, MPI_LOR, MPI_LXOR}) {
    std::vector<T> wanted;
    for (int i = 0; i < count; ++i) wanted.push_back(expected(op, ranks, i) ? truth : lie);
    std::vector<T> result(count);
    MPI_Allreduce(mine.data(), result.data(), count, type, op, MPI_COMM_WORLD);
    test::expect(result == wanted, what);
    std::vector<T> both = mine;
    std::vector<T> own;
    for (int i = 0; i < count; ++i) {
      const bool same = operand(rank, i);
      own.push_back((op == MPI_LXOR ? false : same) ? truth : lie);
    }
    MPI_Reduce_local(mine.data(), both.data(), count, type, op);
    test::expect(both == own, what);
  }
}

void external32() {
  const std::array<std::int32_t, 2> logicals = {yes, no};
  std::array<unsigned char, 8> packed{};
  MPI_Aint position = 0;
  MPI_Pack_external("external32", logicals.data(), 2, MPI_LOGICAL, packed.data(), 8, &position);
  const std::array<unsigned char, 8> wanted = {0, 0, 0, 1, 0, 0, 0, 0};
  test::expect(position == 8 && packed == wanted, "1 and 0 for others to read");
  std::array<std::int32_t, 2> back{};
  position = 0;
  MPI_Unpack_external("external32", packed.data(), 8, &position, back.data(), 2, MPI_LOGICAL);
  test::expect(back == logicals, "the compiler's values again");
}

void set_values() {
  std::int32_t truth = yes;
  std::int32_t lie = no;
  std::int32_t got_yes = -1;
  std::int32_t got_no = -1;
  int is_set = -1;
  test::expect_class(MPI_Abi_set_fortran_booleans(3, &truth, &lie), MPI_ERR_ARG, "no such size");
  test::expect_class(MPI_Abi_set_fortran_booleans(4, &truth, &truth), MPI_ERR_ARG, "equal values");
  MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set);
  test::expect_equal(is_set, 0, "nothing is set");
  test::expect_class(MPI_Abi_set_fortran_booleans(4, &truth, &lie), MPI_SUCCESS, "the first call");
  test::expect_class(MPI_Abi_set_fortran_booleans(4, &lie, &truth), MPI_ERR_ABI, "the second");
  MPI_Abi_get_fortran_booleans(4, &got_yes, &got_no, &is_set);
  test::expect(is_set == 1 && got_yes == yes && got_no == no, "the values of the first call");
  std::int64_t wide = 0;
  MPI_Abi_get_fortran_booleans(8, &wide, &wide, &is_set);
  test::expect_equal(is_set, 0, "of another size nothing is known");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  reduce<std::int32_t>(MPI_LOGICAL, 1, 0, "before");
  MPI_Datatype before = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_LOGICAL, &before);
  set_values();
  reduce(MPI_LOGICAL, yes, no, "MPI_LOGICAL");
  reduce(MPI_LOGICAL4, yes, no, "MPI_LOGICAL4");
  reduce(before, yes, no, "a duplicate");
  reduce<std::int64_t>(MPI_LOGICAL8, 1, 0, "another size");
  reduce<std::int32_t>(MPI_INT, 1, 0, "C's integers");
  external32();
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_logical_size", "8");
  MPI_Abi_set_fortran_info(info);
  MPI_Info_free(&info);
  reduce<std::int64_t>(MPI_LOGICAL, 1, 0, "a default of 8 bytes");
  reduce(MPI_LOGICAL4, yes, no, "the other facts came later");
  MPI_Type_free(&before);
  return test::finish();
}
