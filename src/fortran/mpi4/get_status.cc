// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/pending.h"
#include "fortran/report.h"
#include "fortran/sentinels.h"

// The states of several requests (MPI 5.0 section 3.7.6). Indices count from 1. What a request has brought
// is stored when it is said to be complete, not only when it ends.

namespace fulmar::fortran {
namespace {

void store_one(int request) {
  if (anything_pending()) pending_store(request);
}

}  // namespace

void request_get_status_all(const int* count, const int* requests, int* flag, int* statuses,
                            int* ierror) {
  HandleArray<MPI_Request> array(requests, *count);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  int done = 0;
  give(ierror, PMPI_Request_get_status_all(*count, array.get(), &done, statuses_address(statuses)));
  for (int i = 0; done != 0 && i < *count; ++i) store_one(requests[i]);
  *flag = logical(done);
}

void request_get_status_any(const int* count, const int* requests, int* index, int* flag,
                            int* status, int* ierror) {
  HandleArray<MPI_Request> array(requests, *count);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  int found = MPI_UNDEFINED;
  int done = 0;
  give(ierror,
       PMPI_Request_get_status_any(*count, array.get(), &found, &done, status_address(status)));
  if (done != 0 && found != MPI_UNDEFINED) store_one(requests[found]);
  *index = found == MPI_UNDEFINED ? found : found + 1;
  *flag = logical(done);
}

void request_get_status_some(const int* incount, const int* requests, int* outcount, int* indices,
                             int* statuses, int* ierror) {
  HandleArray<MPI_Request> array(requests, *incount);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  *outcount = MPI_UNDEFINED;
  give(ierror, PMPI_Request_get_status_some(*incount, array.get(), outcount, indices,
                                            statuses_address(statuses)));
  for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount; ++i) {
    store_one(requests[indices[i]]);
    ++indices[i];
  }
}

}  // namespace fulmar::fortran
