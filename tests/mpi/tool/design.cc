// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: design [used]
// Whether messages go by one of the papers' channel designs, as FULMAR_CHANNEL or FULMAR_STACK asks
// (docs/adr/0009-stacks-and-designs.md): only where it is said so here.

#include <mpi.h>

#include <cstring>
#include <vector>

#include "support/check.h"

namespace {

/// What `channel_design_writes` says of the work of `exchange`.
template <class Exchange>
unsigned long long writes_of(Exchange exchange) {
  int index = -1;
  int count = 0;
  unsigned long long writes = 0;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  test::expect_equal(
      MPI_T_pvar_get_index("channel_design_writes", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS,
      "channel_design_writes");
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count);
  test::expect_equal(count, 1, "count");
  MPI_T_pvar_start(session, handle);
  exchange();
  test::expect_equal(MPI_T_pvar_read(session, handle, &writes), MPI_SUCCESS, "read");
  MPI_T_pvar_session_free(&session);
  return writes;
}

/// Short and long messages around all ranks; how many each one sends.
unsigned send_around() {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const int size = test::size_of(MPI_COMM_WORLD);
  unsigned sends = 0;
  for (const int count : {0, 1, 1000, 300'000}) {
    const std::vector<int> out(static_cast<std::size_t>(count), rank);
    std::vector<int> in(out.size());
    MPI_Sendrecv(out.data(), count, MPI_INT, (rank + 1) % size, 1, in.data(), count, MPI_INT,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++sends;
  }
  return sends;
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  const bool used = argc > 1 && std::strcmp(argv[1], "used") == 0;
  unsigned sends = 0;
  const unsigned long long writes = writes_of([&] { sends = send_around(); });
  if (used) {
    test::expect(writes >= sends, "every message is written by the design");
  } else {
    test::expect_equal(writes, 0, "writes of a design that nobody has asked for");
  }
  MPI_Finalize();
  MPI_T_finalize();
  return test::failures() == 0 ? 0 : 1;
}
