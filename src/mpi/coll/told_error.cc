// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/told_error.h"

#include <array>
#include <cstdio>

#include "mpi/coll/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/library.h"

namespace fulmar::mpi {

base::Error told_error(Comm& comm, const base::Error& mine, int rank, int code,
                       const char* of_what) {
  std::array<char, 400> text{};
  if (rank == comm.rank) std::snprintf(text.data(), text.size(), "%s", mine.text().c_str());
  const Datatype* const byte = comm.library->find<Datatype>(MPI_BYTE);
  const base::Error error = bcast({text.data(), text.size(), byte}, rank, comm);
  if (mine.failed()) return mine;
  if (error.failed()) return error;
  text.back() = '\0';
  return base::failure(base::Error::from_code(code).error_class(), "rank %d of the %s: %s", rank,
                       of_what, text.data());
}

}  // namespace fulmar::mpi
