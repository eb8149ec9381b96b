// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_meeting WHO STEP CHILDREN
// The ranks spawn processes. The root of the parents (WHO: parent) or of the children (child) is killed as soon as
// it has written for the STEP-th time to the connection through which the two groups meet. The others learn of it in
// MPI_Comm_spawn, MPI_Init, or a call on the new communicator, and none of them is kept waiting.
// WHO: partners: a child dies, and a parent that only this child was connected to: the other child learns of it from the
// living parents.
#include <mpi-ext.h>
#include <mpi.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fault/deaths.h"
#include "support/check.h"

namespace {

using test::expect;
using test::is_failure;
using test::rank_of;

/// Writes until this process dies; 0: it goes on.
int writes_left = 0;

void arm(const char* who, const char* dying, int step) {
  if (std::string_view(who) == dying) writes_left = step;
}

/// Which call of the library ended, and how.
bool succeeds(int code, const char* what) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  const bool expected =
      is_failure(code) || error_class == MPI_ERR_PORT || error_class == MPI_ERR_SPAWN;
  expect(code == MPI_SUCCESS || expected, what);
  return code == MPI_SUCCESS;
}

void meet(MPI_Comm inter) {
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  const int one = 1;
  int sum = 0;
  (void)succeeds(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter), "MPI_Allreduce");
  MPI_Comm_free(&inter);
}

/// Rank 1 of the children is the partner of the parents of odd rank, the last one among them.
void lose_partners(MPI_Comm inter, bool is_child) {
  const int rank = rank_of(MPI_COMM_WORLD);
  int last = 0;
  MPI_Comm_remote_size(inter, &last);
  if (!is_child) last = test::size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  if (is_child && rank == 1) test::die();
  if (!is_child && rank == last - 1) test::die();
  const MPI_Comm comm = is_child ? inter : MPI_COMM_WORLD;
  test::expect_class(MPI_Recv(nullptr, 0, MPI_INT, last - 1, 0, comm, MPI_STATUS_IGNORE),
                     MPIX_ERR_PROC_FAILED, "MPI_Recv of a parent");
  MPI_Comm_free(&inter);
}

void go_on(MPI_Comm inter, const char* who, bool is_child) {
  if (std::string_view(who) == "partners") return lose_partners(inter, is_child);
  meet(inter);
}

int be_child(char** words) {
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  go_on(parents, words[1], true);
  return test::finish();
}

int be_parent(char** words) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  const int root = test::size_of(MPI_COMM_WORLD) / 2;
  if (rank_of(MPI_COMM_WORLD) == root) arm(words[1], "parent", std::atoi(words[2]));
  std::string word = "child";
  std::array<char*, 4> arguments = {words[1], words[2], word.data(), nullptr};
  MPI_Comm children = MPI_COMM_NULL;
  const int code = MPI_Comm_spawn(words[0], arguments.data(), std::atoi(words[3]), MPI_INFO_NULL,
                                  root, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  if (succeeds(code, "MPI_Comm_spawn")) go_on(children, words[1], false);
  return test::finish();
}

}  // namespace

/// Of the library, too: a program's definition comes before that of libc.
extern "C" ssize_t send(int socket, const void* bytes, size_t count, int flags) {
  const auto sent =
      static_cast<ssize_t>(::syscall(SYS_sendto, socket, bytes, count, flags, nullptr, 0));
  if (flags == MSG_NOSIGNAL && writes_left > 0 && --writes_left == 0) test::die();
  return sent;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const bool is_child = std::string_view(argv[3]) == "child";
  if (is_child) arm(argv[1], "child", std::atoi(argv[2]));
  MPI_Init(nullptr, nullptr);
  return is_child ? be_child(argv) : be_parent(argv);
}
