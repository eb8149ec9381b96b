// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_files FILE RANK
// The rank dies while a collective write is under way; the others go on writing until they learn of it.
// test_files.py reads what they print.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "blocks_file.h"

namespace {

constexpr int bytes = 1 << 20;
int handled = 0;

void count_error(MPI_File* /*file*/, int* /*code*/, ...) { ++handled; }

/// No survivor ends before all of them have printed the error that they got, because the others could
/// report that end instead. Messages among survivors still work.
void synchronize_survivors(int rank, int size, int dead) {
  for (int other = 0; other < size; ++other) {
    if (other == rank || other == dead) continue;
    const int code = MPI_Sendrecv(nullptr, 0, MPI_BYTE, other, 1, nullptr, 0, MPI_BYTE, other, 1,
                                  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) std::printf("rank %d: no message with rank %d\n", rank, other);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_File file = open_blocks_file(argv[1], "enable", "65536");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(count_error, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  const std::vector<char> data(bytes, static_cast<char>(rank));
  const int dead = std::atoi(argv[2]);
  if (rank == dead) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File_iwrite_at_all(file, 0, data.data(), bytes, MPI_BYTE, &request);
    int flag = 0;
    for (int call = 0; call < 3; ++call) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    std::raise(SIGKILL);
  }
  int code = MPI_SUCCESS;
  while (code == MPI_SUCCESS) {
    code = MPI_File_write_at_all(file, 0, data.data(), bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::printf("rank %d: %s\n", rank, text);
  std::fflush(stdout);
  code = MPI_File_close(&file);
  MPI_Error_string(code, text, &length);
  std::printf("rank %d: %s\n", rank, file == MPI_FILE_NULL ? text : "the file stays open");
  if (handled != 2) std::printf("rank %d: the handler was called %d times\n", rank, handled);
  synchronize_survivors(rank, size, dead);
  MPI_Finalize();
  return 0;
}
