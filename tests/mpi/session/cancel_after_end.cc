// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// networks: tcp
//
// Rank 1 has used a session only, which it has ended, and so has its program, or it is about to.
// What rank 0 has sent to it and cancels completes: it is not received any more.

#include <mpi.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "support/check.h"

namespace {

constexpr int unwanted_tag = 5;
constexpr int wanted_tag = 6;

/// Of a process that this one can see.
bool has_ended(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return true;
  return stat.find(") Z ") != std::string::npos;
}

/// Makes progress meanwhile. Some launchers let a process end only with the others: not for ever.
void wait_for_end(int pid, MPI_Comm comm) {
  for (int look = 0; look < 500 && !has_ended(pid); ++look) {
    int any = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any, MPI_STATUS_IGNORE);
    ::usleep(1000);
  }
}

void take_back(MPI_Request& request) {
  MPI_Status status;
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  test::expect(cancelled != 0, "the send was cancelled");
}

/// One while the receiver leaves, and one later.
void send_and_take_back(MPI_Comm comm) {
  int pid = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (MPI_Request& request : requests) {
    MPI_Issend(&pid, 1, MPI_INT, 1, unwanted_tag, comm, &request);
  }
  MPI_Send(&pid, 1, MPI_INT, 1, wanted_tag, comm);
  MPI_Recv(&pid, 1, MPI_INT, 1, wanted_tag, comm, MPI_STATUS_IGNORE);
  ::usleep(20'000);  // it waits for this process to read its goodbye
  take_back(requests[0]);
  wait_for_end(pid, comm);
  take_back(requests[1]);
}

void receive_one(MPI_Comm comm) {
  int pid = ::getpid();
  int ignored = 0;
  MPI_Recv(&ignored, 1, MPI_INT, 0, wanted_tag, comm, MPI_STATUS_IGNORE);
  MPI_Send(&pid, 1, MPI_INT, 0, wanted_tag, comm);
}

}  // namespace

int main() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "fulmar.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  const int rank = test::rank_of(comm);
  if (rank == 0) send_and_take_back(comm);
  if (rank == 1) receive_one(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return test::failures() == 0 ? 0 : 1;
}
