// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>

// Fortran constants that are recognised by their address: MPI_BOTTOM, MPI_IN_PLACE and the like (MPI 5.0
// sections 2.5.4 and 19.3.5).
//
// A Fortran program cannot pass the addresses 0 and 1 that stand for them in C. It passes a variable,
// and this library compares. There are two places for each constant:
//   - a common block for mpif.h, which is all that the old language has. Each program that includes mpif.h
//     defines the block; the dynamic linker makes the library use the program's.
//   - one variable each for the modules. Programs only refer to them, so that a plugin opened with
//     RTLD_LOCAL uses the library's, too.
// Their contents are never read or written.

namespace fulmar::fortran {

inline constexpr std::size_t status_ints = MPI_F_STATUS_SIZE;

/// The common block of mpif.h; the generator writes the same order there.
struct SentinelBlock {
  int bottom;
  int in_place;
  int buffer_automatic;
  int errcodes_ignore;
  int unweighted;
  int weights_empty;
  int status_ignore[status_ints];
  int statuses_ignore[status_ints];
  char argv_null;
  char argvs_null;
  char unused[2];
};

/// The address that C uses for a choice buffer: 0 for MPI_BOTTOM, 1 for MPI_IN_PLACE, 2 for
/// MPI_BUFFER_AUTOMATIC, else the buffer itself. Any thread, any time; so are the others here.
[[nodiscard]] void* buffer_address(const void* buffer);

/// MPI_STATUS_IGNORE or the status, whose layout is that of C.
[[nodiscard]] MPI_Status* status_address(int* status);
[[nodiscard]] MPI_Status* statuses_address(int* statuses);

/// MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY or the weights.
[[nodiscard]] int* weights_address(const int* weights);

/// MPI_ERRCODES_IGNORE or the array.
[[nodiscard]] int* errcodes_address(int* codes);

[[nodiscard]] bool is_argv_null(const char* argv);
[[nodiscard]] bool is_argvs_null(const char* argvs);

}  // namespace fulmar::fortran
