// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

/// A datatype for another process: bounds and layout (mpi/datatype/layout.h) as 64-bit words. Which
/// basic elements lie there is not said; accumulate operations name theirs apart.
[[nodiscard]] std::vector<std::int64_t> describe_type(const Datatype& type);

/// The datatype that `words` describe, as one of bytes: it moves the same bytes as the original.
/// The words come from another process: MPI_ERR_TYPE for what no process would have sent,
/// MPI_ERR_VALUE_TOO_LARGE where bounds leave 64 bits.
[[nodiscard]] base::Result<std::unique_ptr<Datatype>> described_type(
    const Library& library, std::span<const std::int64_t> words);

}  // namespace fulmar::mpi
