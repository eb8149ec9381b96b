// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A process that cannot open a network keeps its job from connecting: all ranks get its error and its reason, and when it
// can, the next call succeeds.
// ranks: 2 3
// env: FULMAR_FABRIC=shm

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::rank_of;

/// The number that the next descriptor would have is not allowed.
rlim_t forbid_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  const int next = dup(0);
  close(next);
  limit.rlim_cur = static_cast<rlim_t>(next);
  setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

void allow_descriptors(rlim_t count) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = count;
  setrlimit(RLIMIT_NOFILE, &limit);
}

MPI_Comm spawn(char* program, const char* call, int wanted) {
  MPI_Comm inter = MPI_COMM_NULL;
  const int code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                                  &inter, MPI_ERRCODES_IGNORE);
  expect_class(code, wanted, call);
  if (wanted == MPI_SUCCESS) return inter;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  const std::string said = text.data();
  expect(said.find(std::strerror(EMFILE)) != std::string::npos, ("the reason: " + said).c_str());
  const bool is_own = rank_of(MPI_COMM_WORLD) == 1;
  expect(is_own || said.find("rank 1 cannot take part") != std::string::npos,
         ("whose it is: " + said).c_str());
  return inter;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Comm_disconnect(&parent);
    return test::finish();
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const bool refuses = rank_of(MPI_COMM_WORLD) == 1;
  const rlim_t before = refuses ? forbid_descriptors() : 0;
  (void)spawn(argv[0], "without descriptors", MPI_ERR_OTHER);
  if (refuses) allow_descriptors(before);
  MPI_Comm inter = spawn(argv[0], "with them", MPI_SUCCESS);
  MPI_Comm_disconnect(&inter);
  return test::finish();
}
