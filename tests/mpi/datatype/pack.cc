// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Pack, MPI_Unpack, MPI_Pack_size: positions, buffers that are too short or missing, and sizes
// beyond an int (MPI 5.0 section 5.2).
// ranks: 1
#include <mpi.h>

#include <array>
#include <cstdint>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

void size_of_packed() {
  int size = 0;
  MPI_Count large = 0;
  expect_class(MPI_Pack_size(536870911, MPI_FLOAT, MPI_COMM_WORLD, &size), MPI_SUCCESS, "size");
  expect_equal(size, 2147483644, "the largest that fits");
  expect_class(MPI_Pack_size(536870912, MPI_FLOAT, MPI_COMM_WORLD, &size), MPI_SUCCESS, "too many");
  expect_equal(size, MPI_UNDEFINED, "one that does not fit");
  expect_class(MPI_Pack_size_c(536870912, MPI_FLOAT, MPI_COMM_WORLD, &large), MPI_SUCCESS, "large");
  expect_equal(large, 2147483648, "the same, large");
}

void there_and_back() {
  const std::array<int, 3> numbers = {1, 2, 3};
  const double real = 0.5;
  std::array<unsigned char, 28> packed{};
  const int room = static_cast<int>(packed.size());
  int position = 4;
  MPI_Pack(numbers.data(), 3, MPI_INT, packed.data(), room, &position, MPI_COMM_WORLD);
  expect_equal(position, 16, "behind the integers");
  MPI_Pack(&real, 1, MPI_DOUBLE, packed.data(), room, &position, MPI_COMM_WORLD);
  expect_equal(position, 24, "behind the real");
  expect(packed[0] == 0 && packed[3] == 0 && packed[24] == 0, "the rest");
  std::array<int, 3> back{};
  double real_back = 0;
  position = 4;
  MPI_Unpack(packed.data(), room, &position, back.data(), 3, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(packed.data(), room, &position, &real_back, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(back == numbers && real_back == real && position == 24, "what was packed");
}

void wrong_buffers() {
  int numbers[3] = {1, 2, 3};
  unsigned char packed[12];
  for (const int wrong : {-1, 13}) {
    int position = wrong;
    expect_class(MPI_Pack(numbers, 1, MPI_INT, packed, 12, &position, MPI_COMM_WORLD), MPI_ERR_ARG,
                 "position outside");
    expect_equal(position, wrong, "it stays");
  }
  int position = 1;
  expect_class(MPI_Pack(numbers, 3, MPI_INT, packed, 12, &position, MPI_COMM_WORLD),
               MPI_ERR_TRUNCATE, "too short to pack");
  expect_class(MPI_Unpack(packed, 12, &position, numbers, 3, MPI_INT, MPI_COMM_WORLD),
               MPI_ERR_TRUNCATE, "too short to unpack");
  position = 0;
  expect_class(MPI_Pack(numbers, 3, MPI_INT, nullptr, 12, &position, MPI_COMM_WORLD),
               MPI_ERR_BUFFER, "nothing to pack into");
  expect_class(MPI_Unpack(nullptr, 12, &position, numbers, 3, MPI_INT, MPI_COMM_WORLD),
               MPI_ERR_BUFFER, "nothing to unpack");
  expect_class(MPI_Pack(numbers, 0, MPI_INT, nullptr, 0, &position, MPI_COMM_WORLD), MPI_SUCCESS,
               "nothing at all");
  MPI_Aint wide = 0;
  expect_class(MPI_Pack_external("external32", numbers, 3, MPI_INT, nullptr, 12, &wide),
               MPI_ERR_BUFFER, "nothing to pack into");
  expect_class(MPI_Unpack_external("external32", nullptr, 12, &wide, numbers, 3, MPI_INT),
               MPI_ERR_BUFFER, "nothing to unpack");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  size_of_packed();
  there_and_back();
  wrong_buffers();
  return test::finish();
}
