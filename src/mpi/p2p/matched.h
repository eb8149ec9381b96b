// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/comm/comm.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// A message that MPI_Mprobe took out of the queue: only a matched receive of it can get it (MPI
/// 5.0 section 3.8.2). MPI_MESSAGE_NO_PROC has no object.
struct Message : Object {
  static constexpr ObjectKind object_kind = ObjectKind::message;

  /// Takes a reference of the communicator.
  Message(Comm& its_comm, device::Arrival& its_arrival) noexcept
      : Object(object_kind), comm(&its_comm), arrival(&its_arrival) {
    its_comm.library->acquire(its_comm);
  }

  Comm* comm;
  device::Arrival* arrival;  ///< owned; the receive takes it
};

}  // namespace fulmar::mpi
