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

/// The object of a call, whose error handler is called. Its handle is as Fortran has it, and is looked at only then.
struct ErrorTarget {
  enum class Kind { none, comm, win, file, session };
  Kind kind = Kind::none;  ///< none: MPI_COMM_SELF (MPI 5.0 section 9.3)
  int handle = 0;

  static ErrorTarget comm(int handle) { return {Kind::comm, handle}; }
  static ErrorTarget win(int handle) { return {Kind::win, handle}; }
  static ErrorTarget file(int handle) { return {Kind::file, handle}; }
  static ErrorTarget session(int handle) { return {Kind::session, handle}; }
};

/// Calls the error handler of an object with a code whose text says what is wrong and what helps, and
/// gives the code, of class MPI_ERR_NO_MEM, _COUNT, _TYPE, _BUFFER, _ARG or _OTHER.
[[nodiscard]] int report(Problem problem, ErrorTarget target = {});

}  // namespace fulmar::fortran
