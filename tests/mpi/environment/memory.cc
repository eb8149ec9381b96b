// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// Memory from MPI_Alloc_mem and how it is aligned (MPI 5.0, 9.2), and the kinds of memory that a
// communicator tells (11.4.3).

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

std::string value_of(MPI_Info info, const char* key) {
  char text[MPI_MAX_INFO_VAL] = "";
  int room = sizeof text;
  int found = 0;
  MPI_Info_get_string(info, key, &room, text, &found);
  return found != 0 ? text : "";
}

void aligned(const char* alignment, std::uintptr_t expected) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment);
  void* memory = nullptr;
  expect_equal(MPI_Alloc_mem(1000, info, static_cast<void*>(&memory)), MPI_SUCCESS, alignment);
  expect(memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % expected == 0, alignment);
  if (memory != nullptr) std::memset(memory, 1, 1000);
  expect_equal(MPI_Free_mem(memory), MPI_SUCCESS, "free");
  MPI_Info_free(&info);
}

void sizes() {
  void* memory = nullptr;
  expect_equal(MPI_Alloc_mem(0, MPI_INFO_NULL, static_cast<void*>(&memory)), MPI_SUCCESS, "empty");
  expect_equal(MPI_Free_mem(memory), MPI_SUCCESS, "free of nothing");
  expect_class(MPI_Alloc_mem(MPI_Aint{1} << 60, MPI_INFO_NULL, static_cast<void*>(&memory)),
               MPI_ERR_NO_MEM, "more than there is");
}

void kinds() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(comm, &info);
  const std::string supported = value_of(info, "mpi_memory_alloc_kinds");
  expect(supported.find("system") != std::string::npos, "memory of the system");
  expect(supported.find("mpi") != std::string::npos, "memory of MPI");
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "toaster");
  MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", "system");
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  MPI_Comm_get_info(comm, &info);
  expect(value_of(info, "mpi_memory_alloc_kinds") == supported, "cannot be set");
  expect(value_of(info, "mpi_assert_memory_alloc_kinds") == "system", "what the program promises");
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  aligned("4096", 4096);
  aligned("1048576", 1048576);
  aligned("48", 16);
  aligned("1", 1);
  aligned("-5", 1);
  aligned("many", 1);
  sizes();
  kinds();
  return test::finish();
}
