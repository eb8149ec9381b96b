// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What MPI_Abi_set_fortran_info changes: the sizes of Fortran's types, which exist at all, and what
// reductions and external32 make of them (MPI 5.0 section 20.4). Here: integers, logicals and reals
// of 8 bytes, double precision of 16, no INTEGER(16), no COMPLEX(16), but REAL(2).
// ranks: 1 2 3
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "support/check.h"

namespace {

int size_of_type(MPI_Datatype type) {
  int size = -1;
  test::expect_class(MPI_Type_size(type, &size), MPI_SUCCESS, "MPI_Type_size");
  return size;
}

MPI_Info make_info(const char* key, const char* value) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

void refuse_bad_facts() {
  for (const char* value : {"3", "", "4x", "32", "-4"}) {
    MPI_Info info = make_info("mpi_integer_size", value);
    test::expect_class(MPI_Abi_set_fortran_info(info), MPI_ERR_INFO_VALUE, value);
    MPI_Info_free(&info);
  }
  MPI_Info info = make_info("mpi_real16_supported", "yes");
  test::expect_class(MPI_Abi_set_fortran_info(info), MPI_ERR_INFO_VALUE, "yes");
  MPI_Info_free(&info);
  test::expect_equal(size_of_type(MPI_INTEGER), 4, "nothing has changed");
}

void set_facts() {
  MPI_Info info = make_info("mpi_integer_size", "8");
  MPI_Info_set(info, "mpi_logical_size", "8");
  MPI_Info_set(info, "mpi_real_size", "8");
  MPI_Info_set(info, "mpi_double_precision_size", "16");
  MPI_Info_set(info, "mpi_integer16_supported", "false");
  MPI_Info_set(info, "mpi_complex16_supported", "false");
  MPI_Info_set(info, "mpi_real2_supported", "true");
  test::expect_class(MPI_Abi_set_fortran_info(info), MPI_SUCCESS, "the first call counts");
  test::expect_class(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI, "the second does not");
  MPI_Info_free(&info);
}

void sizes() {
  test::expect_equal(size_of_type(MPI_INTEGER), 8, "INTEGER");
  test::expect_equal(size_of_type(MPI_LOGICAL), 8, "LOGICAL");
  test::expect_equal(size_of_type(MPI_REAL), 8, "REAL");
  test::expect_equal(size_of_type(MPI_DOUBLE_PRECISION), 16, "DOUBLE PRECISION");
  test::expect_equal(size_of_type(MPI_COMPLEX), 16, "COMPLEX");
  test::expect_equal(size_of_type(MPI_DOUBLE_COMPLEX), 32, "DOUBLE COMPLEX");
  test::expect_equal(size_of_type(MPI_2REAL), 16, "two REALs");
  test::expect_equal(size_of_type(MPI_2DOUBLE_PRECISION), 32, "two DOUBLE PRECISIONs");
  test::expect_equal(size_of_type(MPI_2INTEGER), 16, "two INTEGERs");
  test::expect_equal(size_of_type(MPI_INTEGER16), MPI_UNDEFINED, "INTEGER(16)");
  test::expect_equal(size_of_type(MPI_COMPLEX16), MPI_UNDEFINED, "COMPLEX(16)");
  test::expect_equal(size_of_type(MPI_REAL2), 2, "REAL(2)");
  test::expect_equal(size_of_type(MPI_COMPLEX4), MPI_UNDEFINED, "COMPLEX(4)");
  test::expect_equal(size_of_type(MPI_INTEGER4), 4, "INTEGER(4)");
  test::expect_equal(size_of_type(MPI_INT), 4, "C's types stay");
  MPI_Aint lb = -1;
  MPI_Aint extent = -1;
  MPI_Type_get_extent(MPI_2DOUBLE_PRECISION, &lb, &extent);
  test::expect(lb == 0 && extent == 32, "extent");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  test::expect_class(MPI_Type_contiguous(2, MPI_COMPLEX16, &type), MPI_ERR_TYPE, "not there");
  test::expect_class(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 16, &type), MPI_ERR_ARG,
                     "not there");
  test::expect_class(MPI_Type_create_f90_integer(30, &type), MPI_ERR_ARG, "not there");
  test::expect_class(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &type), MPI_SUCCESS,
                     "the next longer");
  test::expect(size_of_type(type) > 16, "the next longer");
  test::expect_class(MPI_Type_create_f90_real(3, MPI_UNDEFINED, &type), MPI_SUCCESS, "REAL(2)");
  test::expect_equal(size_of_type(type), 2, "REAL(2)");
}

void reductions() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int ranks = test::size_of(MPI_COMM_WORLD);
  const std::array<std::int64_t, 2> wide = {(std::int64_t{1} << 40) + rank, -rank};
  std::array<std::int64_t, 2> sums{};
  test::expect_class(
      MPI_Allreduce(wide.data(), sums.data(), 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS,
      "sum");
  const int all = ranks * (ranks - 1) / 2;
  test::expect_equal(sums[0], (std::int64_t{1} << 40) * ranks + all, "a sum of 8 bytes");
  test::expect_equal(sums[1], -all, "a sum of 8 bytes");
  const std::array<double, 2> located = {1.0 + rank % 2, static_cast<double>(rank)};
  std::array<double, 2> most{};
  MPI_Allreduce(located.data(), most.data(), 1, MPI_2REAL, MPI_MAXLOC, MPI_COMM_WORLD);
  test::expect_equal(most[0], ranks > 1 ? 2 : 1, "the largest");
  test::expect_equal(most[1], ranks > 1 ? 1 : 0, "where it is");
  const std::array<std::int64_t, 2> where = {std::int64_t{-5} << 40, rank};
  std::array<std::int64_t, 2> least{};
  MPI_Allreduce(where.data(), least.data(), 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD);
  test::expect_equal(least[0], std::int64_t{-5} << 40, "the smallest");
  test::expect_equal(least[1], 0, "where it is");
  const std::uint16_t half = 0x3e00;  // 1.5
  std::uint16_t product = 0;
  MPI_Reduce(&half, &product, 1, MPI_REAL2, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) test::expect_equal(product, 0x3e00, "the largest REAL(2)");
  MPI_Reduce_local(&half, &product, 1, MPI_REAL2, MPI_PROD);
  if (rank == 0) test::expect_equal(product, 0x4080, "1.5 * 1.5 in REAL(2)");
}

void external32() {
  std::array<unsigned char, 8> packed{};
  MPI_Aint position = 0;
  const std::int64_t integer = -2;
  MPI_Pack_external("external32", &integer, 1, MPI_INTEGER, packed.data(), 8, &position);
  const double real = 0.5;
  MPI_Pack_external("external32", &real, 1, MPI_REAL, packed.data(), 8, &position);
  const std::array<unsigned char, 8> expected = {0xff, 0xff, 0xff, 0xfe, 0x3f, 0, 0, 0};
  test::expect(position == 8 && packed == expected, "4 bytes each, whatever the compiler");
  std::int64_t back = 0;
  double real_back = 0;
  position = 0;
  MPI_Unpack_external("external32", packed.data(), 8, &position, &back, 1, MPI_INTEGER);
  MPI_Unpack_external("external32", packed.data(), 8, &position, &real_back, 1, MPI_REAL);
  test::expect(back == integer && real_back == real, "and back");
  const std::int64_t big = std::int64_t{1} << 31;
  position = 0;
  test::expect_class(
      MPI_Pack_external("external32", &big, 1, MPI_INTEGER, packed.data(), 8, &position),
      MPI_ERR_CONVERSION, "does not fit");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype before = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INTEGER, &before);
  refuse_bad_facts();
  set_facts();
  test::expect_equal(size_of_type(before), 12, "types made before keep their parts");
  MPI_Type_free(&before);
  sizes();
  reductions();
  external32();
  return test::finish();
}
