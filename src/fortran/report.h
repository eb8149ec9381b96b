// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::fortran {

/// What this library itself finds wrong; all else is an error of the MPI call below it.
enum class Problem {
  no_memory,
  section_too_small,
  section_datatype,
  section_kept,
  too_many_operations,
  too_many_errhandlers,
  address_too_large,
};

/// Calls the error handler of MPI_COMM_SELF with a code whose text says what is wrong and what helps, and
/// gives the code, of class MPI_ERR_NO_MEM, _COUNT, _TYPE, _BUFFER, _ARG or _OTHER.
[[nodiscard]] int report(Problem problem);

}  // namespace fulmar::fortran
