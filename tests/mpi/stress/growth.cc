// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 3
// timeout: 120
//
// What is made and freed again leaves no memory behind.
#include <mpi.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/sanitized.h"

namespace {

/// Memory of this process in KiB that is not shared with others.
long private_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long value = 0;
  while (status >> word) {
    if (word == "RssAnon:") status >> value;
  }
  return value;
}

/// Runs `once` often, and checks whether the last nine tenths of the turns needed memory.
template <class Once>
void repeat(int turns, const char* what, Once&& once) {
  long before = 0;
  for (int i = 0; i < turns; ++i) {
    if (i == turns / 10) before = private_kib();
    once(i);
  }
  if (test::keeps_freed_memory) return;
  // The shadow of a sanitizer grows with use.
  constexpr long most_kib = test::sanitized ? 16384 : 1024;
  const long grown = private_kib() - before;
  test::expect(grown < most_kib, what);
  if (grown >= most_kib) std::fprintf(stderr, "  grown by %ld KiB\n", grown);
}

void communicators(int) {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_free(&twin);
}

void groups(int) {
  MPI_Group world;
  MPI_Group first;
  const int zero = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &zero, &first);
  MPI_Group_free(&first);
  MPI_Group_free(&world);
}

void types(int) {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&type);
}

void attributes(int) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_free_keyval(&keyval);
}

/// A ring of messages: one is received, one sent and forgotten, one receive withdrawn.
void requests(int turn) {
  static std::vector<char> out(100000);
  static std::vector<char> in(100000);
  const int size = test::size_of(MPI_COMM_WORLD);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int bytes = turn % 50 == 0 ? 100000 : turn % 200;
  MPI_Request receive;
  MPI_Request send;
  MPI_Request never;
  MPI_Irecv(in.data(), bytes, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &receive);
  MPI_Isend(out.data(), bytes, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &send);
  MPI_Request_free(&send);
  MPI_Irecv(nullptr, 0, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  if (turn % 100 == 0) MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  repeat(3000, "communicators", communicators);
  repeat(20000, "groups", groups);
  repeat(20000, "types", types);
  repeat(20000, "attributes", attributes);
  repeat(3000, "requests", requests);
  MPI_Barrier(MPI_COMM_WORLD);
  return test::finish();
}
