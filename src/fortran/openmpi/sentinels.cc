// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/sentinels.h"

// Open MPI's Fortran has a common block for each constant, in all three bindings. Programs define them; the dynamic
// linker makes this library use the program's.

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {

int mpi_fortran_bottom_;
int mpi_fortran_in_place_;
int mpi_fortran_unweighted_;
int mpi_fortran_weights_empty_;
int mpi_fortran_errcodes_ignore_;
int mpi_fortran_status_ignore_[fulmar::fortran::status_ints];
int mpi_fortran_statuses_ignore_[fulmar::fortran::status_ints];
char mpi_fortran_argv_null_;
char mpi_fortran_argvs_null_;

// Pointers of libmpi.so.40 for C (MPI 5.0 section 19.3.5).
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;

}  // extern "C"
#pragma GCC visibility pop

namespace {

[[gnu::constructor]] void tell_c() {
  MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
  MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
}

}  // namespace
// NOLINTEND(readability-identifier-naming)

namespace fulmar::fortran {

void* buffer_address(const void* buffer) {
  if (buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (buffer == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return const_cast<void*>(buffer);
}

MPI_Status* status_address(int* status) {
  return status == mpi_fortran_status_ignore_ ? MPI_STATUS_IGNORE
                                              : reinterpret_cast<MPI_Status*>(status);
}

MPI_Status* statuses_address(int* statuses) {
  return statuses == mpi_fortran_statuses_ignore_ ? MPI_STATUSES_IGNORE
                                                  : reinterpret_cast<MPI_Status*>(statuses);
}

int* weights_address(const int* weights) {
  if (weights == &mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (weights == &mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return const_cast<int*>(weights);
}

int* errcodes_address(int* codes) {
  return codes == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

bool is_argv_null(const char* argv) { return argv == &mpi_fortran_argv_null_; }
bool is_argvs_null(const char* argvs) { return argvs == &mpi_fortran_argvs_null_; }

}  // namespace fulmar::fortran
