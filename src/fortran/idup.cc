// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/pending.h"
#include "fortran/report.h"

// MPI_Comm_idup gives a communicator at once, and makes it MPI_COMM_NULL where the operation fails later: the
// variable belongs to it until the request is complete (MPI 5.0 section 7.4.2). C's variable is in the record of the
// request; the program's changes in the call that completes it.

namespace fulmar::fortran {
namespace {

template <class Call>
void duplicate(Call call, int comm, int* newcomm, int* request, int* ierror) {
  PendingBuilder pending(Lifetime::once, Freeing::refused);
  if (!pending.reserve(true))
    return give(ierror, report(Problem::no_memory, ErrorTarget::comm(comm)));
  MPI_Comm* made = pending.add_comm(newcomm);
  HandleResult<MPI_Request> under_way(request);
  const int code = call(made, under_way.get());
  *newcomm = number(*made);
  under_way.store();
  if (code == MPI_SUCCESS) pending.keep(*request);
  give(ierror, code);
}

}  // namespace

void comm_idup(const int* comm, int* newcomm, int* request, int* ierror) {
  const auto call = [comm](MPI_Comm* made, MPI_Request* under_way) {
    return PMPI_Comm_idup(handle<MPI_Comm>(*comm), made, under_way);
  };
  duplicate(call, *comm, newcomm, request, ierror);
}

void comm_idup_with_info(const int* comm, const int* info, int* newcomm, int* request,
                         int* ierror) {
  const auto call = [comm, info](MPI_Comm* made, MPI_Request* under_way) {
    return PMPI_Comm_idup_with_info(handle<MPI_Comm>(*comm), handle<MPI_Info>(*info), made,
                                    under_way);
  };
  duplicate(call, *comm, newcomm, request, ierror);
}

}  // namespace fulmar::fortran
