// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Parents that revoke the communicator with a spawned process at once, while that one is still in MPI_Init: it has a
// parent all the same, whose calls say that it was revoked.
// ranks: 4
// networks: tcp

#include <mpi-ext.h>
#include <mpi.h>

#include <array>
#include <string>
#include <string_view>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;

constexpr int rounds = 12;

void give_up_a_child(const char* program) {
  std::string word = "child";
  std::array<char*, 2> arguments = {word.data(), nullptr};
  MPI_Comm child = MPI_COMM_NULL;
  expect_class(MPI_Comm_spawn(program, arguments.data(), 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                              &child, MPI_ERRCODES_IGNORE),
               MPI_SUCCESS, "MPI_Comm_spawn");
  expect_class(MPIX_Comm_revoke(child), MPI_SUCCESS, "MPIX_Comm_revoke");
  MPI_Comm_free(&child);
}

int be_child() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  expect(parent != MPI_COMM_NULL, "a spawned process has a parent");
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  MPI_Comm_get_name(parent, name.data(), &length);
  expect(std::string_view(name.data()) == "MPI_COMM_PARENT", "its name");
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  expect_class(MPI_Barrier(parent), MPIX_ERR_REVOKED, "MPI_Barrier with those that have given up");
  MPI_Comm_get_parent(&parent);
  expect(parent != MPI_COMM_NULL, "a revoked communicator is still that of the parents");
  MPI_Comm_free(&parent);
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) return be_child();
  for (int round = 0; round < rounds; ++round) give_up_a_child(argv[0]);
  return test::finish();
}
