// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/engine/coll_context.h"
#include "mpi/io/access/access.h"
#include "mpi/io/access/access_record.h"
#include "mpi/io/file.h"

namespace fulmar::mpi {

enum class Direction : std::uint8_t { read, write };

/// How a collective access goes depends on hints, mode and views that all ranks have in common when they make the call.
/// The program may change them while it is under way, and no rank may then go by what others did not have.
struct CommonCourse {
  io::Use two_phases = io::Use::automatic;
  bool atomic = false;
  bool maps = false;    ///< the file system allows mapped memory, and hints do
  bool sieves = false;  ///< ranks may read gaps and write them back
  Count window_bytes = 0;
  Count unit_bytes = 1;
  Count least_mean_run_bytes = 0;

  CommonCourse() noexcept = default;
  CommonCourse(const OpenFile& open, Direction direction) noexcept;
};

/// A collective access of one process to a file: what it was asked for, and what came of it.
struct CollectiveAccess {
  CollectiveAccess() noexcept = default;
  CollectiveAccess(File& its_file, Direction its_direction) noexcept
      : file(&its_file), direction(its_direction), course(*its_file.open, its_direction) {}

  File* file = nullptr;
  Direction direction = Direction::read;
  CommonCourse course;
  Access access;
  AccessRecord record;
  /// The shared pointer says where: the ranks follow each other in their order.
  bool ordered = false;
  /// The call waits for the end, so what takes long may be done in place.
  bool in_place = false;
  /// Goes in: why this process cannot take part. All ranks fail then.
  base::Error error;
  Count moved = 0;  ///< bytes in memory
};

/// Whether the ranks exchange nothing in any case, by what all of them know: mode, hints and views.
[[nodiscard]] bool moves_apart(const CollectiveAccess& call) noexcept;
/// A blocking call of that kind: each rank moves its part by itself. The ranks meet at the end of a write;
/// and at the beginning, unless the call before was such a write: so programs that read the data of others and
/// then write need no barrier between.
base::Error move_apart(CollectiveAccess& call);

/// Moves the data of all ranks, also of those calls that do not block. Every rank of the file runs it once
/// for a call. An error of a write is an error at every rank.
CollTask move_collectively(CollContext& exchange, CollectiveAccess& call);

}  // namespace fulmar::mpi
