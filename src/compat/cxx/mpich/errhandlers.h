// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

namespace fulmar::compat::cxx {

/// The handle of MPI::ERRORS_THROW_EXCEPTIONS, as MPICH numbers it. The C library does not know it: libmpicxx.so.12 takes the
/// functions over that set and get error handlers.
inline constexpr MPI_Errhandler throw_exceptions = 0x54000002;

}  // namespace fulmar::compat::cxx
