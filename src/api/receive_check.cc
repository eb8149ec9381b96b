// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/receive_check.h"

#include "api/gate.h"
#include "mpi/comm/comm.h"
#include "mpi/request/whole_elements.h"

namespace fulmar::api {

int ReceiveCheck::result(Call call) const {
  auto* type = library_.find<mpi::Datatype>(type_);
  if (type == nullptr) return MPI_SUCCESS;  // MPI_DATATYPE_NULL: there was no message
  if (request_ != nullptr) {
    mpi::check_when_complete(library_, *request_, *type);
    return MPI_SUCCESS;
  }
  if (status_ == nullptr) return MPI_SUCCESS;
  const base::Error wrong = mpi::check_whole_elements(*type, *status_);
  return wrong.ok() ? MPI_SUCCESS : fail(library_, call, library_.find<mpi::Comm>(comm_), wrong);
}

}  // namespace fulmar::api
