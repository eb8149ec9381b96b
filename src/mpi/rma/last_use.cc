// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/last_use.h"

#include <vector>

#include "mpi/coll/calls.h"
#include "mpi/request/calls.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// All barriers together: ranks need not know of their windows in the same order.
void await_other_users(Library& library, std::uintptr_t session) {
  std::vector<Comm*> comms;
  (void)library.any<Win>([&](const Win& win) {
    if (win.size() > 1 && win.comm->session == session) comms.push_back(win.comm);
    return false;
  });
  if (comms.empty()) return;
  std::vector<MPI_Request> requests;
  for (Comm* const comm : comms) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (ibarrier(*comm, request).ok()) requests.push_back(request);
  }
  ErrorTarget nobody;  // what fails here is not this call's to report
  (void)waitall(library, nobody, static_cast<int>(requests.size()), requests, nullptr);
}

}  // namespace fulmar::mpi
