// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>

// Fortran constants that are recognised by their address: MPI_BOTTOM, MPI_IN_PLACE and the like (MPI 5.0
// sections 2.5.4 and 19.3.5).
//
// A Fortran program cannot pass the addresses 0 and 1 that stand for them in C. It passes a variable,
// and this library compares. Which variables these are depends on the ABI: see sentinels.cc of each.
// Their contents are never read or written.

namespace fulmar::fortran {

inline constexpr std::size_t status_ints = sizeof(MPI_Status) / sizeof(int);

/// The address that C uses for a choice buffer: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC,
/// else the buffer itself. Any thread, any time; so are the others here.
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
