// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Cancelling (MPI 5.0 section 3.8.4): either the operation is as if it had never been, or it is
// complete as usual; a wait returns in both cases.
// ranks: 1 2 4
#include "check.h"

namespace {

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

bool cancelled(const MPI_Status& status) {
  int flag = -1;
  check::ok(MPI_Test_cancelled(&status, &flag));
  return flag != 0;
}

void receives() {
  int values[3] = {-1, -1, -1};
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i) {
    check::ok(MPI_Irecv(&values[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left(), 1, MPI_COMM_WORLD,
                        &requests[i]));
  }
  MPI_Status status = check::marked_status();
  check::ok(MPI_Cancel(&requests[0]));
  check::that(requests[0] != MPI_REQUEST_NULL, "cancel leaves the handle");
  check::ok(MPI_Wait(&requests[0], &status));
  check::that(cancelled(status), "a receive without a message is cancelled");
  check::ok(MPI_Cancel(&requests[1]));
  int flag = 0;
  while (flag == 0) check::ok(MPI_Test(&requests[1], &flag, &status));
  check::that(cancelled(status), "a receive without a message is cancelled");
  // The message goes to the one that is left.
  check::meet();
  const int out = 8;
  check::ok(MPI_Send(&out, 1, MPI_INT, right(), 1, MPI_COMM_WORLD));
  check::ok(MPI_Wait(&requests[2], &status));
  check::status(status, left(), 1, 4);
  check::that(values[0] == -1 && values[1] == -1 && values[2] == 8, "values");
  // A complete one stays complete.
  check::ok(MPI_Irecv(values, 1, MPI_INT, left(), 2, MPI_COMM_WORLD, &requests[0]));
  check::ok(MPI_Send(&out, 1, MPI_INT, right(), 2, MPI_COMM_WORLD));
  flag = 0;
  while (flag == 0) check::ok(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
  check::ok(MPI_Cancel(&requests[0]));
  check::ok(MPI_Wait(&requests[0], &status));
  check::status(status, left(), 2, 4);
}

/// Sends that wait for a receive, of every kind that waits.
void sends(std::size_t bytes, bool synchronous) {
  auto out = check::pattern(bytes, 1);
  const int count = static_cast<int>(bytes);
  std::vector<unsigned char> in(bytes);
  MPI_Request request;
  MPI_Status status = check::marked_status();
  if (synchronous) {
    check::ok(MPI_Issend(out.data(), count, MPI_BYTE, right(), 5, MPI_COMM_WORLD, &request));
  } else {
    check::ok(MPI_Isend(out.data(), count, MPI_BYTE, right(), 5, MPI_COMM_WORLD, &request));
  }
  check::ok(MPI_Cancel(&request));
  // The neighbour answers from within its own wait.
  check::ok(MPI_Wait(&request, &status));
  const int sent = cancelled(status) ? 0 : 1;
  int coming = -1;
  check::ok(MPI_Sendrecv(&sent, 1, MPI_INT, right(), 0, &coming, 1, MPI_INT, left(), 0,
                         check::quiet(), MPI_STATUS_IGNORE));
  if (coming != 0) {
    check::ok(MPI_Recv(in.data(), count, MPI_BYTE, left(), 5, MPI_COMM_WORLD, &status));
    check::same(in.data(), bytes, 1);
  }
  check::meet();
  int flag = 1;
  check::ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  check::is(flag, 0, "nothing is left of a cancelled send");
  check::meet();
}

/// A send that was matched cannot be cancelled: the data arrive.
void matched() {
  constexpr std::size_t bytes = 400000;
  const auto out = check::pattern(bytes, 9);
  std::vector<unsigned char> in(bytes);
  MPI_Request requests[2];
  MPI_Status status;
  check::ok(MPI_Irecv(in.data(), static_cast<int>(bytes), MPI_BYTE, left(), 6, MPI_COMM_WORLD,
                      &requests[0]));
  check::meet();
  check::ok(MPI_Isend(out.data(), static_cast<int>(bytes), MPI_BYTE, right(), 6, MPI_COMM_WORLD,
                      &requests[1]));
  check::ok(MPI_Wait(&requests[0], &status));
  check::ok(MPI_Cancel(&requests[1]));
  check::same(in.data(), bytes, 9);
  check::ok(MPI_Wait(&requests[1], &status));
  check::that(!cancelled(status), "a matched send is not cancelled");
}

void combined() {
  const int out = 1;
  int in = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status = check::marked_status();
  check::ok(MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 7, &in, 1, MPI_INT, left(), 7,
                          MPI_COMM_WORLD, &request));
  check::ok(MPI_Cancel(&request));
  check::ok(MPI_Wait(&request, &status));
  check::that(cancelled(status), "a receive without a message is cancelled");
  // What is complete stays so.
  check::ok(MPI_Isendrecv(&out, 1, MPI_INT, right(), 8, &in, 1, MPI_INT, left(), 8, MPI_COMM_WORLD,
                          &request));
  int flag = 0;
  while (flag == 0) check::ok(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
  check::ok(MPI_Cancel(&request));
  check::ok(MPI_Wait(&request, &status));
  check::status(status, left(), 8, 4);
  check::is(in, 1, "value");
}

void wrong_uses() {
  MPI_Request request = MPI_REQUEST_NULL;
  check::error(MPI_Cancel(&request), MPI_ERR_REQUEST);
  MPI_Status status = check::marked_status();
  check::ok(MPI_Status_set_cancelled(&status, 1));
  check::that(cancelled(status), "set");
  check::ok(MPI_Status_set_cancelled(&status, 0));
  check::that(!cancelled(status), "unset");
  check::is(status.MPI_ERROR, 4711, "MPI_ERROR");
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  receives();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{10000},
                                  std::size_t{100000}, std::size_t{1000000}}) {
    sends(bytes, false);
    sends(bytes, true);
  }
  matched();
  combined();
  wrong_uses();
  return check::finish();
}
