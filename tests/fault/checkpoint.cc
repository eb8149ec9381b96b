// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A rank dies, or leaves, where all are to quiesce or to resume: the others get an error, and tell which.
//   checkpoint before     rank 1 kills itself in place of MPIX_Checkpoint_quiesce
//   checkpoint between    rank 1 kills itself in place of MPIX_Checkpoint_resume
//   checkpoint within US  rank 1 is killed US microseconds after all have begun, while they quiesce and resume again and again
//   checkpoint refused    nobody dies
//   checkpoint leaves     rank 1 calls MPI_Finalize in place of MPIX_Checkpoint_quiesce
//   checkpoint moves F    all resume under the mpiexec that the files F/launcher.RANK name, with messages under
//                         way, and again under that one
//   checkpoint swaps F    the same with the files of other ranks
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fault/deaths.h"

namespace {

using test::die;
using test::die_after;

/// The rest of the job has to be right under the other mpiexec, too.
void exchange(int rank, int size, int (*between)(const std::string&), const std::string& file) {
  constexpr int ints = 200'000;
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const std::vector<int> sent(ints, rank);
  std::vector<int> got(ints, -1);
  MPI_Request requests[2];
  MPI_Isend(sent.data(), ints, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent.data(), 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
  const int code = between(file);
  if (code != MPI_SUCCESS) std::exit(3);
  for (int tag = 0; tag < 2; ++tag) {
    MPI_Recv(got.data(), ints, MPI_INT, previous, 1 - tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got.front() != previous) std::exit(4);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  int sum = -1;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (got.back() != previous || sum != size * (size - 1) / 2) std::exit(5);
}

int go_under(const std::string& file) {
  int code = MPIX_Checkpoint_quiesce(MPI_INFO_NULL);
  if (code != MPI_SUCCESS) return code;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "fulmar_launcher", file.c_str());
  code = MPIX_Checkpoint_resume(info);
  MPI_Info_free(&info);
  return code;
}

int go_on(const std::string& /*file*/) {
  const int code = MPIX_Checkpoint_quiesce(MPI_INFO_NULL);
  return code != MPI_SUCCESS ? code : MPIX_Checkpoint_resume(MPI_INFO_NULL);
}

void tell(const char* call, int rank, int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  const char* const name = error_class == MPI_SUCCESS                     ? "success"
                           : error_class == MPIX_ERR_PROC_FAILED          ? "proc_failed"
                           : error_class == MPI_ERR_OTHER                 ? "other"
                           : error_class == MPI_ERR_UNSUPPORTED_OPERATION ? "unsupported"
                                                                          : "wrong class";
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  std::printf("rank %d: %s: %s: %s\n", rank, call, name, text);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (mode == "moves") {
    const std::string first = std::getenv("FULMAR_JOB_SOCKET");
    exchange(rank, size, go_under, argv[2] + ("/launcher." + std::to_string(rank)));
    exchange(rank, size, go_on, {});
    std::printf("rank %d: %s\n", rank,
                first == std::getenv("FULMAR_JOB_SOCKET") ? "same" : "moved");
    return MPI_Finalize();
  }
  if (mode == "swaps") {
    tell("resume", rank, go_under(argv[2] + ("/launcher." + std::to_string(1 - rank))));
    ::_exit(0);
  }
  if (mode == "within") {
    if (rank == 1) die_after(static_cast<std::uint32_t>(std::atoi(argv[2])));
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS) code = go_on({});
    tell("checkpoint", rank, code);
    // Without networks there is no barrier, and it says so.
    code = MPI_Barrier(MPI_COMM_WORLD);
    tell("barrier", rank, code);
    ::_exit(0);
  }
  if (rank == 1 && mode == "before") die();
  if (rank == 1 && mode == "leaves") return MPI_Finalize();
  int code = MPIX_Checkpoint_quiesce(MPI_INFO_NULL);
  if (mode != "between") {
    tell("quiesce", rank, code);
    return MPI_Finalize();
  }
  if (rank == 1) die();
  if (code == MPI_SUCCESS) code = MPIX_Checkpoint_resume(MPI_INFO_NULL);
  tell("resume", rank, code);
  ::_exit(0);
}
