// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2
//
// Messages of 8 bytes allocate nothing, on communicators and datatypes of the program, too: calls of malloc are counted.
#include <atomic>
#include <cstddef>

#include "support/check.h"

extern "C" void* __libc_malloc(std::size_t bytes);                     // NOLINT: of glibc
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);  // NOLINT
extern "C" void* __libc_realloc(void* old, std::size_t bytes);         // NOLINT

namespace {

thread_local int allocations;  // of this thread: the library has others

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
extern "C" void* calloc(std::size_t count, std::size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
extern "C" void* realloc(void* old, std::size_t bytes) {
  ++allocations;
  return __libc_realloc(old, bytes);
}

namespace {

void exchange(MPI_Comm comm, MPI_Datatype datatype, int rank) {
  const int other = 1 - rank;
  double sent = rank;
  double received = -1;
  MPI_Status status;
  if (rank == 0) MPI_Send(&sent, 1, datatype, other, 1, comm);
  MPI_Recv(&received, 1, datatype, other, 1, comm, &status);
  if (rank == 1) MPI_Send(&sent, 1, datatype, other, 1, comm);
  MPI_Sendrecv(&sent, 1, datatype, other, 2, &received, 1, datatype, other, 2, comm, &status);
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, datatype, other, 3, comm, &requests[0]);
  MPI_Isend(&sent, 1, datatype, other, 3, comm, &requests[1]);
  int done = 0;
  MPI_Test(&requests[0], &done, &status);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int count = 0;
  MPI_Get_count(&status, datatype, &count);
}

// `messages` messages arrive before their receives: those of tag 4 were sent before the one of tag 5.
void unexpected(int messages, int rank) {
  const int other = 1 - rank;
  double sent = rank;
  double received = -1;
  for (int i = 0; i < messages; ++i) MPI_Send(&sent, 1, MPI_DOUBLE, other, 4, MPI_COMM_WORLD);
  MPI_Sendrecv(&sent, 1, MPI_DOUBLE, other, 5, &received, 1, MPI_DOUBLE, other, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < messages; ++i) {
    MPI_Recv(&received, 1, MPI_DOUBLE, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// What an unexpected message is kept in is allocated once, and used again. How many there are is up to the ranks' speeds:
// at most the 8 below, the one of tag 5 behind them and what exchange() sends (3), so 16 are had before anything is counted.
int allocations_of(MPI_Comm comm, MPI_Datatype datatype, int rank) {
  for (int i = 0; i < 300; ++i) exchange(comm, datatype, rank);
  unexpected(16, rank);
  const int before = allocations;
  unexpected(8, rank);
  for (int i = 0; i < 300; ++i) exchange(comm, datatype, rank);
  return allocations - before;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(8, MPI_BYTE, &datatype);
  MPI_Type_commit(&datatype);
  test::expect(allocations > 0, "malloc is counted");
  test::expect_equal(allocations_of(MPI_COMM_WORLD, MPI_DOUBLE, rank), 0, "predefined handles");
  test::expect_equal(allocations_of(comm, datatype, rank), 0, "handles of the program");
  MPI_Type_free(&datatype);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
