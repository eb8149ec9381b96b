// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_file_journal FILE two-phase|alone
// Writes one round of data after the other collectively, and appends the number of each round that was
// reported as written to FILE.RANK, until it is killed. A rank that gets an error writes that there and
// ends. test_file_kills.py checks that what was reported is in FILE.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "blocks_file.h"

namespace {

constexpr int bytes = 1 << 16;  // of a rank in a round
constexpr int most_rounds = 600;

void append(int journal, const std::string& line) {
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
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file = open_blocks_file(
      argv[1], std::strcmp(argv[2], "two-phase") == 0 ? "enable" : "disable", "32768");
  const std::string name = std::string(argv[1]) + "." + std::to_string(rank);
  const int journal = ::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (journal < 0) return 3;
  append(journal, "pid " + std::to_string(::getpid()) + "\n");
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
      append(journal, std::string("error ") + text + "\n");
      std::_Exit(0);
    }
    append(journal, "round " + std::to_string(round) + "\n");
  }
}
