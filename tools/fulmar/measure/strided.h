// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// Messages of derived datatypes, most of them not one run of memory, between two ranks: half a
/// round trip, `count` times.
///
/// strided: every second double (MPI_Type_vector), to the same at the other side.
/// typed: one run, as one element of a derived type (MPI_Type_contiguous).
/// face-x, face-y, face-z: one face of a cube of doubles (MPI_Type_create_subarray), whose elements
/// lie far apart, in short runs, or in one run.
///
/// `bytes` is what travels.
void run_strided(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers, int count);

/// The bytes that the buffer must have.
std::size_t strided_span(Kind test, std::size_t bytes);

}  // namespace fulmar::measure
