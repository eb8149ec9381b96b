// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/library.h"
#include "mpi/rma/sync/wait_note.h"
#include "wire/node/wait_record.h"

/// What windows add to the report of a job that stands still: what a call on one waits for, and
/// which locks are held. mpiexec brings the two together, so nothing is kept for it while locks are
/// taken and given back.
///
/// Thread rule: the lock of the library.
namespace fulmar::runtime {

struct WindowWaitText {
  std::string what;  ///< "for the exclusive lock of rank 1 of window halo"
  wire::WaitKind kind = wire::WaitKind::other;
  std::uint64_t comm = 0;
  std::vector<std::uint32_t> peers;  ///< ranks of the job
};
[[nodiscard]] WindowWaitText explain(const mpi::WindowWait& wait);

/// Adds the passive-target locks that this process holds, and those of its own memory that it has
/// granted to others by requests.
void add_held_locks(const mpi::Library& library, wire::WaitBody& body);

}  // namespace fulmar::runtime
