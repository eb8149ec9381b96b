// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/engine/coll_context.h"
#include "mpi/io/access.h"
#include "mpi/io/access_record.h"
#include "mpi/io/file.h"

namespace fulmar::mpi {

enum class Direction : std::uint8_t { read, write };

/// A collective access of one process to a file: what it was asked for, and what came of it.
struct CollectiveAccess {
  File* file = nullptr;
  Direction direction = Direction::read;
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
