// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_file_journal FILE two-phase|alone
// Writes one round of data after the other collectively, and appends the number of each round that was
// reported as written to FILE.RANK, until somebody kills it. A rank that gets an error says so there and
// ends. test_files.py looks whether what was reported is in FILE.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int piece = 64;
constexpr int bytes = 1 << 16;  // of a rank in a round
constexpr int most_rounds = 600;

MPI_File open_file(const char* name, bool two_phase, int rank, int size) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", two_phase ? "enable" : "disable");
  MPI_Info_set(info, "cb_buffer_size", "32768");
  MPI_Info_set(info, "cb_nodes", "2");
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) !=
      MPI_SUCCESS) {
    std::_Exit(3);
  }
  MPI_Info_free(&info);
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(piece, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, MPI_Aint{piece} * size, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, MPI_Offset{piece} * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  return file;
}

void say(int journal, const std::string& line) {
  if (::write(journal, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::_Exit(3);
  }
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
  MPI_File file = open_file(argv[1], std::strcmp(argv[2], "two-phase") == 0, rank, size);
  const std::string name = std::string(argv[1]) + "." + std::to_string(rank);
  const int journal = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (journal < 0) return 3;
  say(journal, "pid " + std::to_string(::getpid()) + "\n");
  std::vector<unsigned char> data(bytes);
  for (int round = 0;; ++round) {
    std::fill(data.begin(), data.end(), static_cast<unsigned char>(1 + (round * 7 + rank) % 255));
    const int place = round % most_rounds;
    const int code = MPI_File_write_at_all(file, MPI_Offset{place} * bytes, data.data(), bytes,
                                           MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
      char text[MPI_MAX_ERROR_STRING] = "";
      int length = 0;
      MPI_Error_string(code, text, &length);
      say(journal, std::string("error ") + text + "\n");
      std::_Exit(0);
    }
    say(journal, "round " + std::to_string(round) + "\n");
  }
}
