// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a function of the user gets when a call ends with MPI_ERR_IN_STATUS: the error in the status
// (MPI 5.0 section 9.3.1).
// ranks: 1 2
#include "check.h"

namespace {

int calls = 0;
int last_class = MPI_SUCCESS;
MPI_Comm last_comm = MPI_COMM_NULL;

void note(MPI_Comm* comm, int* code, ...) {
  ++calls;
  last_comm = *comm;
  MPI_Error_class(*code, &last_class);
}

int right() { return (check::rank() + 1) % check::size(); }
int left() { return (check::rank() + check::size() - 1) % check::size(); }

/// Two receives, of which the second finds a message that is too long.
void post(MPI_Comm comm, int* in, MPI_Request* requests) {
  const int out[2] = {1, 2};
  check::ok(MPI_Irecv(in, 1, MPI_INT, left(), 1, comm, &requests[0]));
  check::ok(MPI_Irecv(in + 1, 1, MPI_INT, left(), 2, comm, &requests[1]));
  check::ok(MPI_Send(out, 1, MPI_INT, right(), 1, comm));
  check::ok(MPI_Send(out, 2, MPI_INT, right(), 2, comm));
}

int class_of(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

void all(MPI_Comm comm) {
  int in[2] = {};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  post(comm, in, requests);
  calls = 0;
  check::is(class_of(MPI_Waitall(2, requests, statuses)), MPI_ERR_IN_STATUS, "result of the call");
  check::is(calls, 1, "one call of the function");
  check::is(last_class, MPI_ERR_TRUNCATE, "what the function gets");
  check::that(last_comm == comm, "on the communicator of the request");
  check::is(class_of(statuses[0].MPI_ERROR), MPI_SUCCESS, "status of the good one");
  check::is(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE, "status of the bad one");
}

void some(MPI_Comm comm) {
  int in[2] = {};
  MPI_Request requests[2];
  post(comm, in, requests);
  calls = 0;
  int failed = 0;
  for (int done = 0; done < 2;) {
    int count = 0;
    int indices[2];
    const int code = MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) {
      ++failed;
      check::is(class_of(code), MPI_ERR_IN_STATUS, "result of the call");
    }
    done += count;
  }
  check::is(failed, 1, "one call fails");
  check::is(calls, 1, "one call of the function");
  check::is(last_class, MPI_ERR_TRUNCATE, "what the function gets");
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  check::ok(MPI_Comm_create_errhandler(note, &handler));
  MPI_Comm comm = MPI_COMM_NULL;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  check::ok(MPI_Comm_set_errhandler(comm, handler));
  all(comm);
  some(comm);
  check::ok(MPI_Comm_free(&comm));
  check::ok(MPI_Errhandler_free(&handler));
  return check::finish();
}
