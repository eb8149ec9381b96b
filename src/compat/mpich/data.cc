// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/library.h"

// The data that MPICH's ABI exports: addresses that mean something.

namespace {

int unweighted;
int weights_empty;
fulmar::compat::ForeignStatus status_ignore;
fulmar::compat::ForeignStatus statuses_ignore;
long all_handles;

// Names of the standard ABI that have to give way below.
int* const standard_unweighted = MPI_UNWEIGHTED;
int* const standard_weights_empty = MPI_WEIGHTS_EMPTY;
const MPI_T_pvar_handle standard_all_handles = MPI_T_PVAR_ALL_HANDLES;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
#undef MPI_UNWEIGHTED
#undef MPI_WEIGHTS_EMPTY
#undef MPI_T_PVAR_ALL_HANDLES
#pragma GCC visibility push(default)
extern "C" {
extern int* const MPI_UNWEIGHTED;
extern int* const MPI_WEIGHTS_EMPTY;
extern void* const MPI_T_PVAR_ALL_HANDLES;
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;
extern fulmar::compat::ForeignStatus* MPI_F08_STATUS_IGNORE;
extern fulmar::compat::ForeignStatus* MPI_F08_STATUSES_IGNORE;
int MPIR_Dup_fn(int object, int keyval, void* extra_state, void* value_in, void* value_out,
                int* flag);

int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;
void* const MPI_T_PVAR_ALL_HANDLES = &all_handles;
int* MPI_F_STATUS_IGNORE = nullptr;
int* MPI_F_STATUSES_IGNORE = nullptr;
fulmar::compat::ForeignStatus* MPI_F08_STATUS_IGNORE = &status_ignore;
fulmar::compat::ForeignStatus* MPI_F08_STATUSES_IGNORE = &statuses_ignore;

/// MPI_DUP_FN and MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN, MPI_WIN_DUP_FN.
int MPIR_Dup_fn(int /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,
                void* value_out, int* flag) {
  *static_cast<void**>(value_out) = value_in;
  *flag = 1;
  return 0;
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)

namespace fulmar::compat {

void prepare_objects() {}

// These pointers are constants, so the addresses tell, wherever the program has its copy of a pointer.
int* weights_in(const int* weights) {
  if (weights == &unweighted) return standard_unweighted;
  if (weights == &weights_empty) return standard_weights_empty;
  return const_cast<int*>(weights);
}

MPI_T_pvar_handle pvar_in(MPI_T_pvar_handle handle) {
  return reinterpret_cast<void*>(handle) == &all_handles ? standard_all_handles : handle;
}

}  // namespace fulmar::compat
