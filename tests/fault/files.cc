// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_files FILE RANK
// The rank dies while a collective write is under way; the others go on writing until they learn of it.
// What they say on stdout is read by test_files.py.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int piece = 64;
constexpr int bytes = 1 << 20;

MPI_File open_file(const char* name, int rank, int size) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "cb_nodes", "2");
  MPI_File file = MPI_FILE_NULL;
  const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (MPI_File_open(MPI_COMM_WORLD, name, amode, info, &file) != MPI_SUCCESS) std::_Exit(3);
  MPI_Info_free(&info);
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(piece, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, MPI_Aint{piece} * size, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, MPI_Offset{piece} * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  return file;
}

/// Nobody ends before all survivors have said what they learned, or the others could hear of that
/// end first. Messages among them go on.
void meet_survivors(int rank, int size, int dead) {
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
  MPI_File file = open_file(argv[1], rank, size);
  const std::vector<char> data(bytes, static_cast<char>(rank));
  const int dead = std::atoi(argv[2]);
  if (rank == dead) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_File_iwrite_at_all(file, 0, data.data(), bytes, MPI_BYTE, &request);
    int flag = 0;
    for (int look = 0; look < 3; ++look) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
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
  meet_survivors(rank, size, dead);
  MPI_Finalize();  // the file cannot be closed without the dead rank
  return 0;
}
