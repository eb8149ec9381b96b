// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <atomic>
#include <vector>

namespace fulmar::joining {

/// Until when ranks exchange messages; all but `ready` is rank 0's to say.
struct Until {
  double least_ns = 0;                       ///< not before this time has passed
  const std::atomic<bool>* ready = nullptr;  ///< nor before this is so on each rank; nullptr: it is
};

/// An exchange in a ring: in each step every rank sends 8 bytes to the next one and receives as many from the one before.
/// All ranks of `comm` do the same number of steps; which is the last travels with the messages, so that nobody stops
/// for it. At most two ranks have a `ready`. `ends_ns`: where the time at the end of each step goes.
void exchange(MPI_Comm comm, const Until& until, std::vector<double>& ends_ns);

}  // namespace fulmar::joining
