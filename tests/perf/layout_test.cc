// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <mpi.h>

#include <array>
#include <cstdio>
#include <vector>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/view.h"
#include "perf/count_steps.h"
#include "unit/support/objects.h"

/// What gathering and scattering costs for each number of typical layouts. One load and one store
/// are the least; the rest is what the walk adds. The limits leave some for another compiler.
namespace fulmar::perf {
namespace {

using namespace mpi;

constexpr int numbers = 256;

class LayoutCost : public Objects {
 protected:
  struct Task {
    const Datatype* type;
    bool unpack;
    std::vector<std::byte>* memory;
    std::vector<std::byte>* packed;
  };

  static void move(void* argument) {
    const Task& task = *static_cast<Task*>(argument);
    const View view(*task.type, 1);
    const std::span<std::byte> packed(task.packed->data(), view.bytes());
    for (int round = 0; round < 2; ++round) {  // the first one fills what is made on first use
      if (round == 1) count_steps_marker();
      if (task.unpack) {
        view.unpack(task.memory->data(), 0, packed);
      } else {
        view.pack(task.memory->data(), 0, packed);
      }
    }
    count_steps_marker();
  }

  /// Both directions may take `most` instructions for each of `numbers` runs.
  void expect_cost(const char* what, MPI_Datatype handle, double most) {
    const Datatype& made = type(handle);
    std::vector<std::byte> memory(static_cast<std::size_t>(made.ub));
    std::vector<std::byte> packed(static_cast<std::size_t>(made.size));
    for (const bool unpack : {false, true}) {
      Task task{&made, unpack, &memory, &packed};
      const Steps steps = count_steps(move, &task);
      if (!steps.complete) GTEST_SKIP() << "this machine does not let a process be stepped";
      const double each = static_cast<double>(steps.instructions) / numbers;
      std::printf("%-28s %s %6.2f instructions a run, at most %g\n", what,
                  unpack ? "unpack" : "pack  ", each, most);
      EXPECT_LE(each, most) << what;
    }
    MPI_Datatype freed = handle;
    EXPECT_TRUE(type_free(library, {&freed, &type(freed)}).ok());
  }
};

TEST_F(LayoutCost, Vector_of_doubles_with_stride_2) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, numbers, 1, 2, type(MPI_DOUBLE), made).ok());
  expect_cost("doubles, stride 2", made, 7);
}

TEST_F(LayoutCost, Vector_of_three_floats) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_vector(library, Form::plain, numbers, 3, 5, type(MPI_FLOAT), made).ok());
  expect_cost("3 floats of 5", made, 13);
}

TEST_F(LayoutCost, Face_of_a_cube) {
  // The face across the dimension that varies fastest, inside a halo of one.
  const std::array<int, 3> sizes{18, 18, 18};
  const std::array<int, 3> face{16, 16, 1};
  const std::array<int, 3> starts{1, 1, 1};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_create_subarray(library, Form::plain, 3, {sizes.data(), 3}, {face.data(), 3},
                                   {starts.data(), 3}, MPI_ORDER_C, type(MPI_DOUBLE), made)
                  .ok());
  expect_cost("3D face", made, 13);
}

TEST_F(LayoutCost, Struct_of_int_and_double) {
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> at{0, 8};
  const std::array<MPI_Datatype, 2> types{MPI_INT, MPI_DOUBLE};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  ASSERT_TRUE(
      type_create_struct(library, Form::plain, 2, {lengths.data(), 2}, at, types, record).ok());
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_contiguous(library, Form::plain, numbers / 2, type(record), made).ok());
  EXPECT_TRUE(type_free(library, {&record, &type(record)}).ok());
  expect_cost("struct of int and double", made, 8);
}

TEST_F(LayoutCost, Indexed_blocks_of_one_and_two_doubles) {
  std::vector<int> lengths;
  std::vector<int> at;
  for (int i = 0; i < numbers; ++i) {
    lengths.push_back(1 + i % 2);
    at.push_back(4 * i + i % 3 % 2);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  ASSERT_TRUE(type_indexed(library, Form::plain, numbers, {lengths.data(), lengths.size()},
                           {at.data(), at.size()}, type(MPI_DOUBLE), made)
                  .ok());
  expect_cost("indexed, 1 or 2 doubles", made, 26);
}

}  // namespace
}  // namespace fulmar::perf
