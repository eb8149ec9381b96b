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

/// The error of a rank that could not make the window because another one failed.
[[nodiscard]] base::Error failed_elsewhere(std::size_t rank, std::uint32_t error_class);

/// The same in all ranks: success only where all have succeeded. Collective.
[[nodiscard]] base::Error agree(Comm& comm, const base::Error& own);

}  // namespace fulmar::mpi
