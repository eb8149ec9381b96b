// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

/// How the data of a filetype and of its repetitions are placed in a file (MPI 5.0 section 14.3).
struct FiletypeShape {
  Count runs = 0;  ///< runs of data without gaps in one repetition, about
  /// Offsets in the file only grow along the stream, and no byte comes twice. For the whole filetype.
  bool forward = true;
  /// The same of the data of one repetition; the next may begin before it ends. Known of the whole
  /// filetype.
  bool forward_once = true;
  /// The displacements within a repetition never decrease.
  bool ordered = true;
  /// Some byte is covered twice by one repetition.
  bool overlaps = false;
};

/// `ordered` and `overlaps` are those of the first 65536 runs.
[[nodiscard]] FiletypeShape shape_of(const Datatype& filetype);

/// The number of the first element of `element_bytes` bytes that begins at byte `offset` or behind it,
/// in repetitions of `filetype` from byte 0 of the file on; -1 where there is none, or none whose place in
/// the stream fits 64 bits. `filetype.size` is a multiple of `element_bytes`, and its extent is not negative.
[[nodiscard]] Count first_element_from(const Datatype& filetype, Count element_bytes, Count offset);

}  // namespace fulmar::mpi
