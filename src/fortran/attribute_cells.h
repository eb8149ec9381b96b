// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

// Attribute values between the languages (MPI 5.0 section 19.3.7). Fortran attaches an integer; C
// that reads it gets the address of the integer. So a value that Fortran attaches is in a cell,
// whose address is the value in C. What C attaches is a pointer, which Fortran reads as an integer.
// Which of both a value is, tells the set of cells.

namespace fulmar::fortran {

/// A new cell with a value; null without memory. Any thread; so are the others.
[[nodiscard]] void* make_cell(MPI_Aint value);

/// What Fortran reads: the value in a cell, or the pointer of C.
[[nodiscard]] MPI_Aint value_of_attribute(void* attribute);

/// Whether a value is a cell, not a pointer of C.
[[nodiscard]] bool is_cell(const void* attribute);

/// Frees a cell; does nothing to a pointer of C.
void free_cell(void* attribute);

}  // namespace fulmar::fortran
