// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Datatypes that are built in thousands of small steps, each from the one before.
// ranks: 1

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

constexpr int steps = 3000;

/// A struct of the struct before and one more byte, which leaves gaps of different lengths.
MPI_Datatype grown_struct(const std::vector<MPI_Aint>& places) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_CHAR, &type);
  for (int step = 1; step < steps; ++step) {
    const std::array<int, 2> lengths = {1, 1};
    const std::array<MPI_Aint, 2> displs = {0, places[static_cast<std::size_t>(step)]};
    const std::array<MPI_Datatype, 2> types = {type, MPI_CHAR};
    MPI_Datatype next = MPI_DATATYPE_NULL;
    const int code = MPI_Type_create_struct(2, lengths.data(), displs.data(), types.data(), &next);
    expect_class(code, MPI_SUCCESS, "one more level");
    if (code != MPI_SUCCESS) break;
    MPI_Type_free(&type);
    type = next;
  }
  MPI_Type_commit(&type);
  return type;
}

void bytes_of_a_grown_struct() {
  std::vector<MPI_Aint> places;
  for (int step = 0; step < steps; ++step) places.push_back(3 * step + step % 2);
  MPI_Datatype type = grown_struct(places);
  int size = 0;
  MPI_Type_size(type, &size);
  expect_equal(size, steps, "size");
  MPI_Aint lb = -1;
  MPI_Aint extent = -1;
  MPI_Type_get_extent(type, &lb, &extent);
  expect_equal(lb, 0, "lower bound");
  expect_equal(extent, places.back() + 1, "extent");
  std::vector<char> memory(static_cast<std::size_t>(extent));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + i / 256);
  std::vector<char> packed(static_cast<std::size_t>(steps));
  int position = 0;
  MPI_Pack(memory.data(), 1, type, packed.data(), steps, &position, MPI_COMM_SELF);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    expect(packed[i] == memory[static_cast<std::size_t>(places[i])], "packed byte");
  }
  std::vector<char> back(memory.size(), 0);
  position = 0;
  MPI_Unpack(packed.data(), steps, &position, back.data(), 1, type, MPI_COMM_SELF);
  for (const MPI_Aint place : places) {
    const auto at = static_cast<std::size_t>(place);
    expect(back[at] == memory[at], "unpacked byte");
  }
  MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  bytes_of_a_grown_struct();
  return test::finish();
}
