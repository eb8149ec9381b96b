// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <type_traits>

// What the Fortran library for programs of MPICH's ABI knows. Handles are integers in C, too, but for MPI_File, and
// mean the same in Fortran.

namespace fulmar::fortran {

template <class Handle>
[[nodiscard]] inline Handle handle(int number) {
  if constexpr (std::is_same_v<Handle, int>) {
    return number;
  } else {
    return PMPI_File_f2c(number);
  }
}

template <class Handle>
[[nodiscard]] inline int number(Handle handle) {
  if constexpr (std::is_same_v<Handle, int>) {
    return handle;
  } else {
    return PMPI_File_c2f(handle);
  }
}

/// What a handle that a call will store is before the call: a number does not say of which type it is, so it stays
/// what Fortran has there.
template <class Handle>
[[nodiscard]] inline Handle before_result(int before) {
  if constexpr (std::is_same_v<Handle, int>) {
    return before;
  } else {
    return MPI_FILE_NULL;
  }
}

/// Whether a keyval of C is that of a predefined attribute.
[[nodiscard]] inline bool is_predefined(int keyval) {
  return (keyval >= MPI_TAG_UB && keyval <= MPI_APPNUM) ||
         (keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL);
}

/// A keyval of Fortran in C: predefined ones follow those of C.
[[nodiscard]] inline int keyval_in(int keyval) {
  return is_predefined(keyval - 1) ? keyval - 1 : keyval;
}

/// MPICH's ABI has no way to say what a compiler is like.
inline void describe_compiler() {}

}  // namespace fulmar::fortran
