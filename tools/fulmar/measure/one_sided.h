// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// One-sided operations of rank 0 on the memory of rank 1, which waits in MPI meanwhile.
///
/// put, get, accumulate (MPI_SUM of 64-bit integers), fetch_and_op, compare_and_swap: one operation and
/// MPI_Win_flush. The windows are of MPI_Win_allocate; with -own of MPI_Win_create.
/// put-bw, get-bw: 64 operations and a flush; an operation counts. put-bibw: both ranks do so.
/// put-busy: as put, while the target computes and calls MPI (MPI_Iprobe) once a millisecond.
/// lock: all ranks, MPI_Win_lock (exclusive) of rank 0's memory, a get and a put of 8 bytes,
/// MPI_Win_unlock; one of all the locks counts.
///
/// Called by every rank of the team; the result is valid on rank 0.
Point run_one_sided(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
                    const Budget& budget, const Agree& agree);

bool is_one_sided(Kind test);
/// It is measured with 8 bytes only.
bool has_one_size(Kind test);

}  // namespace fulmar::measure
