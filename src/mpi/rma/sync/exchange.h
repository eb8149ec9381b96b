// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "mpi/coll/calls.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/library.h"

/// What the ranks of a window that is being made tell each other.
namespace fulmar::mpi {

template <class T>
base::Error gather_all(Comm& comm, const T& own, std::vector<T>& all) {
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  all.resize(static_cast<std::size_t>(comm.size()));
  return allgather({&own, sizeof own, &byte}, {all.data(), sizeof own, &byte}, comm);
}

/// Success only where all have succeeded. A rank keeps its own error; the others get that of the lowest rank
/// that has one, and its text. Collective.
[[nodiscard]] base::Error agree(Comm& comm, const base::Error& own);
/// The same where all know the error codes of all, by rank, already.
[[nodiscard]] base::Error agreed(Comm& comm, const base::Error& own, const std::vector<int>& codes);

}  // namespace fulmar::mpi
