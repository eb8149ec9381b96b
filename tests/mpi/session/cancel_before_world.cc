// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// networks: tcp
//
// Rank 1 has used a session only, and begins the world model later. What rank 0 has sent to it
// meanwhile on MPI_COMM_WORLD and cancelled is received or cancelled, never both (MPI 5.0, 3.8.4).

#include <mpi.h>
#include <unistd.h>

#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr int verdict_tag = 6;
constexpr int bytes = 1 << 20;

void use_a_session() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_finalize(&session);
}

/// Long and short; the buffers are used again at once.
void send_and_cancel() {
  std::vector<char> data(bytes, 'd');
  MPI_Request requests[2];
  MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(data.data(), 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[1]);
  int verdicts[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Status status;
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &verdicts[i]);
  }
  data.assign(bytes, 'X');
  MPI_Send(verdicts, 2, MPI_INT, 1, verdict_tag, MPI_COMM_WORLD);
}

void receive_or_not() {
  std::vector<char> data(bytes);
  char text[8] = "";
  MPI_Request requests[2];
  MPI_Irecv(data.data(), bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(text, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[1]);
  int verdicts[2];
  MPI_Recv(verdicts, 2, MPI_INT, 0, verdict_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i) {
    int done = 0;
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    expect_equal(done, verdicts[i] != 0 ? 0 : 1, "received if not cancelled");
    if (done != 0) continue;
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  if (verdicts[0] == 0) expect(data[0] == 'd' && data[bytes - 1] == 'd', "the first message");
  if (verdicts[1] == 0) expect(text[0] == 'd' && text[7] == 'd', "the second message");
}

}  // namespace

int main(int argc, char** argv) {
  use_a_session();
  const char* rank = std::getenv("FULMAR_RANK");
  if (rank != nullptr && *rank == '1') ::usleep(300'000);  // rank 0 asks in vain meanwhile
  MPI_Init(&argc, &argv);
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    send_and_cancel();
  } else {
    receive_or_not();
  }
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
