// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls that make a window with an argument that is wrong in one rank: they fail in all of them, no rank
// waits, and the communicator can still be used.
// ranks: 1 2 3

#include <mpi.h>

#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

constexpr MPI_Aint bytes = 64;
bool wrong = false;  ///< this rank's arguments are

/// The last rank has an error of its own, the others say that it failed, because of its arguments.
void expect_failed(int code, int own_class, MPI_Win made, const char* call) {
  expect_class(code, wrong ? own_class : MPI_ERR_OTHER, call);
  expect(made == MPI_WIN_NULL, call);
  if (!wrong) {
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    const std::string rank = "rank " + std::to_string(test::size_of(MPI_COMM_WORLD) - 1);
    expect(std::string(text).find(rank) != std::string::npos, call);
    char reason[MPI_MAX_ERROR_STRING] = {};
    MPI_Error_string(MPI_ERR_ARG, reason, &length);
    expect(std::string(text).find(reason) != std::string::npos,
           (std::string(text) + ": " + reason).c_str());
  }
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect_equal(sum, test::size_of(MPI_COMM_WORLD), call);
}

void check_create(MPI_Info freed) {
  const MPI_Comm world = MPI_COMM_WORLD;
  char memory[bytes];
  MPI_Win win = MPI_WIN_NULL;
  int code = MPI_Win_create(memory, wrong ? -1 : bytes, 1, MPI_INFO_NULL, world, &win);
  expect_failed(code, MPI_ERR_SIZE, win, "MPI_Win_create with a negative size");
  code = MPI_Win_create(memory, bytes, wrong ? 0 : 1, MPI_INFO_NULL, world, &win);
  expect_failed(code, MPI_ERR_DISP, win, "MPI_Win_create with units of 0");
  code = MPI_Win_create(memory, bytes, 1, wrong ? freed : MPI_INFO_NULL, world, &win);
  expect_failed(code, MPI_ERR_INFO, win, "MPI_Win_create with a freed info object");
  code = MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, world, wrong ? nullptr : &win);
  expect_failed(code, MPI_ERR_ARG, win, "MPI_Win_create into nothing");
  code = MPI_Win_create_c(memory, bytes, wrong ? -8 : 1, MPI_INFO_NULL, world, &win);
  expect_failed(code, MPI_ERR_DISP, win, "MPI_Win_create_c with units of -8");
  code = MPI_Win_create_dynamic(wrong ? freed : MPI_INFO_NULL, world, &win);
  expect_failed(code, MPI_ERR_INFO, win, "MPI_Win_create_dynamic with a freed info object");
  code = MPI_Win_create_dynamic(MPI_INFO_NULL, world, wrong ? nullptr : &win);
  expect_failed(code, MPI_ERR_ARG, win, "MPI_Win_create_dynamic into nothing");
}

template <class Allocate>
void check_allocate(Allocate allocate, MPI_Info freed) {
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  int code = allocate(wrong ? -1 : bytes, 1, MPI_INFO_NULL, &base, &win);
  expect_failed(code, MPI_ERR_SIZE, win, "a negative size");
  code = allocate(bytes, wrong ? -2 : 1, MPI_INFO_NULL, &base, &win);
  expect_failed(code, MPI_ERR_DISP, win, "units of -2");
  code = allocate(bytes, 1, wrong ? freed : MPI_INFO_NULL, &base, &win);
  expect_failed(code, MPI_ERR_INFO, win, "a freed info object");
  code = allocate(bytes, 1, MPI_INFO_NULL, wrong ? nullptr : &base, &win);
  expect_failed(code, MPI_ERR_ARG, win, "memory given to nobody");
  code = allocate(bytes, 1, MPI_INFO_NULL, &base, wrong ? nullptr : &win);
  expect_failed(code, MPI_ERR_ARG, win, "a window given to nobody");
  expect_equal(allocate(bytes, 1, MPI_INFO_NULL, &base, &win), MPI_SUCCESS, "the next one");
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong = test::rank_of(MPI_COMM_WORLD) == test::size_of(MPI_COMM_WORLD) - 1;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info freed = info;
  MPI_Info_free(&info);
  check_create(freed);
  check_allocate(
      [](MPI_Aint size, int unit, MPI_Info with, void* base, MPI_Win* win) {
        return MPI_Win_allocate(size, unit, with, MPI_COMM_WORLD, base, win);
      },
      freed);
  check_allocate(
      [](MPI_Aint size, int unit, MPI_Info with, void* base, MPI_Win* win) {
        return MPI_Win_allocate_shared(size, unit, with, MPI_COMM_WORLD, base, win);
      },
      freed);
  return test::finish();
}
