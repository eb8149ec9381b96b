// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mpi/coll/engine/coll_context.h"

namespace fulmar::mpi {

/// Collective: all ranks end with an error if one has one. A rank keeps its own; the others get that
/// of the lowest rank that has one, which is named in the text.
base::Error agree(Comm& comm, base::Error mine);
/// Besides, all learn the smallest value that a rank gives.
base::Error agree_on_least(Comm& comm, const base::Error& mine, std::int64_t& value);
/// The same within an algorithm; `error` goes in and out.
CollTask agree_within(CollContext& exchange, base::Error& error);

/// Collective: gives every rank the bytes of rank 0.
base::Error tell_all(Comm& comm, void* data, std::size_t bytes);

}  // namespace fulmar::mpi
