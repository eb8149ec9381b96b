// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Partitioned requests that were made and never started are freed, and MPI_Finalize returns, also
// where the answer to an offer finds no room and whoever offered has left meanwhile: so many that
// they fill the way between two processes.
// ranks: 2 3
#include "check.h"

namespace {

void make_and_free(int count) {
  std::vector<MPI_Request> requests;
  static int out = 1;
  static int in = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Psend_init(&out, 1, 1, MPI_INT, check::right(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &request));
    requests.push_back(request);
    check::ok(MPI_Precv_init(&in, 1, 1, MPI_INT, check::left(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                             &request));
    requests.push_back(request);
  }
  check::ok(MPI_Barrier(MPI_COMM_WORLD));
  for (MPI_Request& request : requests) check::ok(MPI_Request_free(&request));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  make_and_free(1000);
  return check::finish();
}
