// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
//
// A program that tests for a message between pieces of its work, on a core that another program wants, too: a test may not
// give the core away each time, as the other keeps it for milliseconds.
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "support/check.h"

namespace {

/// Another program, which computes on the core `core` until it is killed.
pid_t start_other(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  const pid_t other = ::fork();
  if (other != 0) return other;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::sched_setaffinity(0, sizeof one, &one);
  const volatile int forever = 1;
  while (forever != 0) continue;
  ::_exit(0);
}

/// Seconds of so many tests of a receive that does not complete.
double tests_of(MPI_Request& pending, int count) {
  const auto begin = std::chrono::steady_clock::now();
  int flag = 0;
  for (int i = 0; i < count && flag == 0; ++i) MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
  test::expect(flag == 0, "nothing has arrived");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int core = ::sched_getcpu();
  const pid_t other = start_other(core);
  MPI_Init(&argc, &argv);
  int value = 0;
  MPI_Request pending = MPI_REQUEST_NULL;
  MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &pending);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ::sched_setaffinity(0, sizeof one, &one);
  tests_of(pending, 20000);  // from now on it gives the core away, if at all
  constexpr int count = 20000;
  const double seconds = tests_of(pending, count);
  std::printf("%d tests in %.3f s\n", count, seconds);
  test::expect(seconds < 10,
               "tests take no time slices of the other program");  // a slice each: 60 s
  MPI_Cancel(&pending);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  return test::finish();
}
