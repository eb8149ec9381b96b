// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

// The data that Open MPI's ABI exports beside its objects, and addresses that mean something.

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;
extern fulmar::compat::ForeignStatus* MPI_F08_STATUS_IGNORE;
extern fulmar::compat::ForeignStatus* MPI_F08_STATUSES_IGNORE;
int* MPI_F_STATUS_IGNORE = nullptr;
int* MPI_F_STATUSES_IGNORE = nullptr;
fulmar::compat::ForeignStatus* MPI_F08_STATUS_IGNORE = nullptr;
fulmar::compat::ForeignStatus* MPI_F08_STATUSES_IGNORE = nullptr;
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)

namespace fulmar::compat {

int* weights_in(const int* weights) {
  switch (reinterpret_cast<std::intptr_t>(weights)) {
    case foreign::unweighted:
      return MPI_UNWEIGHTED;
    case foreign::weights_empty:
      return MPI_WEIGHTS_EMPTY;
    default:
      return const_cast<int*>(weights);
  }
}

MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) {
  return reinterpret_cast<std::intptr_t>(handle) == -1 ? MPI_T_PVAR_ALL_HANDLES : handle;
}

}  // namespace fulmar::compat
