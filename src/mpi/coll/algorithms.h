// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/operations.h"

/// The algorithms that are parts of others. Each file says what its algorithm costs and what it
/// cannot do. Arguments by reference must live until the end.
namespace fulmar::mpi {

Algorithm reduce_binomial(Exchange& exchange, const Reduce& call);
Algorithm scatter_direct(Exchange& exchange, const Scatter& call);

}  // namespace fulmar::mpi
