// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/kinds/ranks.h"

namespace fulmar::api {

base::Error wrong_rank(base::ErrorClass error_class, Argument argument, int rank,
                       const mpi::Comm& comm, int ranks, const char* others) {
  const bool named = comm.name != nullptr && *comm.name != '\0';
  return base::failure(
      error_class,
      "argument %s: rank %d is outside communicator %s of size %d; ranks go from 0 "
      "to %d, %s",
      argument.name, rank, named ? comm.name : "(no name)", ranks, ranks - 1, others);
}

base::Error wrong_tag(Argument argument, int tag, const char* others) {
  return base::failure(base::ErrorClass::tag,
                       "argument %s: tag %d is out of range; tags go from 0 to MPI_TAG_UB (%d)%s",
                       argument.name, tag, mpi::largest_tag, others);
}

}  // namespace fulmar::api
