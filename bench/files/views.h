// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "cases.h"

namespace fulmar::files {

/// What a rank sees of a file, and the memory that goes with one filetype.
struct FileView {
  MPI_Offset displacement = 0;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;  ///< the caller's
  MPI_Datatype memory = MPI_DATATYPE_NULL;    ///< the caller's
  std::size_t bytes = 0;                      ///< of data
  std::size_t memory_bytes = 0;               ///< with gaps
};

/// Blocks of `bytes` of the ranks in turns, together 1 MiB a rank, two blocks at least.
FileView interleaved(const Place& place, std::size_t bytes);
/// A cube of doubles of `bytes` in all, of which each rank has blocks of 8 doubles in turns in the
/// two directions that vary fastest (MPI_Type_create_darray).
FileView block_cyclic(const Place& place, std::size_t bytes);
/// The same cube, each rank one part of it, cut in the directions that vary fastest
/// (MPI_Type_create_subarray).
FileView cubes(const Place& place, std::size_t bytes);
/// What the benchmark BT of the NAS parallel benchmarks writes: a grid of `points` cubed with 5 doubles a
/// point, two cells on the diagonal for each of four ranks, in memory with two more points on each side.
FileView diagonal_cells(const Place& place, std::size_t points);

}  // namespace fulmar::files
