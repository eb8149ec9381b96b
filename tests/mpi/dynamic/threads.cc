// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_THREAD_MULTIPLE: threads that publish, look up and take back names of their own while others spawn
// (MPI 5.0 sections 11.6.2, 11.8.2, 11.9.4). Each asks the launcher, over one connection of the process.
// ranks: 1 2

#include <mpi.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

constexpr int name_threads = 3;
constexpr int spawn_threads = 2;
constexpr int rounds = 40;

/// Names that no other thread of the job uses.
void use_names(int thread) {
  const std::string own =
      "threads-" + std::to_string(test::rank_of(MPI_COMM_WORLD)) + "-" + std::to_string(thread);
  for (int round = 0; round < rounds; ++round) {
    const std::string port = own + " in round " + std::to_string(round);
    std::array<char, MPI_MAX_PORT_NAME> found{};
    expect_class(MPI_Publish_name(own.c_str(), MPI_INFO_NULL, port.c_str()), MPI_SUCCESS,
                 "MPI_Publish_name");
    expect_class(MPI_Lookup_name(own.c_str(), MPI_INFO_NULL, found.data()), MPI_SUCCESS,
                 "MPI_Lookup_name");
    expect(port == found.data(), "the port that this thread has published");
    expect_class(MPI_Unpublish_name(own.c_str(), MPI_INFO_NULL, port.c_str()), MPI_SUCCESS,
                 "MPI_Unpublish_name");
    expect_class(MPI_Lookup_name(own.c_str(), MPI_INFO_NULL, found.data()), MPI_ERR_NAME,
                 "a name that was taken back");
  }
}

/// One child, which is told which thread it belongs to.
void use_spawn(const char* program, int thread, MPI_Comm comm) {
  std::string word = "child";
  std::array<char*, 2> arguments = {word.data(), nullptr};
  MPI_Comm child = MPI_COMM_NULL;
  expect_class(MPI_Comm_spawn(program, arguments.data(), 1, MPI_INFO_NULL, 0, comm, &child,
                              MPI_ERRCODES_IGNORE),
               MPI_SUCCESS, "MPI_Comm_spawn");
  int answer = -1;
  MPI_Sendrecv(&thread, 1, MPI_INT, 0, 0, &answer, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
  expect_equal(answer, thread, "the answer of the own child");
  MPI_Comm_disconnect(&child);
}

int be_child() {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  int value = -1;
  MPI_Recv(&value, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
  MPI_Send(&value, 1, MPI_INT, 0, 0, parent);
  MPI_Comm_disconnect(&parent);
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (argc > 1) return be_child();
  expect_equal(level, MPI_THREAD_MULTIPLE, "the thread level");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::array<MPI_Comm, spawn_threads> comms{};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  std::vector<std::thread> threads;
  for (int i = 0; i < name_threads; ++i) threads.emplace_back(use_names, i);
  for (int i = 0; i < spawn_threads; ++i) {
    threads.emplace_back(use_spawn, argv[0], i, comms[static_cast<std::size_t>(i)]);
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  return test::finish();
}
