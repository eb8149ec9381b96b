// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/sentinels.h"

// There are two places for each constant:
//   - a common block for mpif.h, which is all that the old language has. Each program that includes mpif.h
//     defines the block; the dynamic linker makes the library use the program's.
//   - one variable each for the modules. Programs only refer to them, so that a plugin opened with
//     RTLD_LOCAL uses the library's, too.

namespace fulmar::fortran {

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

}  // namespace fulmar::fortran

#pragma GCC visibility push(default)
extern "C" {

fulmar::fortran::SentinelBlock mpifort_abi_sentinels;

int mpifort_abi_bottom;
int mpifort_abi_in_place;
int mpifort_abi_buffer_automatic;
int mpifort_abi_errcodes_ignore[1];
int mpifort_abi_unweighted[1];
int mpifort_abi_weights_empty[1];
int mpifort_abi_status_ignore[MPI_F_STATUS_SIZE];
int mpifort_abi_statuses_ignore[MPI_F_STATUS_SIZE];
MPI_F08_status mpifort_abi_f08_status_ignore;
MPI_F08_status mpifort_abi_f08_statuses_ignore[1];
char mpifort_abi_argv_null[1];
char mpifort_abi_argvs_null[1];

// For C (MPI 5.0 section 19.3.5): the addresses of the constants of mpif.h and of mpi_f08.
MPI_Fint* MPI_F_STATUS_IGNORE = mpifort_abi_sentinels.status_ignore;
MPI_Fint* MPI_F_STATUSES_IGNORE = mpifort_abi_sentinels.statuses_ignore;
MPI_F08_status* MPI_F08_STATUS_IGNORE = &mpifort_abi_f08_status_ignore;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = mpifort_abi_f08_statuses_ignore;

}  // extern "C"
#pragma GCC visibility pop

namespace fulmar::fortran {

void* buffer_address(const void* buffer) {
  const SentinelBlock& block = mpifort_abi_sentinels;
  if (buffer == &mpifort_abi_in_place || buffer == &block.in_place) return MPI_IN_PLACE;
  if (buffer == &mpifort_abi_bottom || buffer == &block.bottom) return MPI_BOTTOM;
  if (buffer == &mpifort_abi_buffer_automatic || buffer == &block.buffer_automatic) {
    return MPI_BUFFER_AUTOMATIC;
  }
  return const_cast<void*>(buffer);
}

MPI_Status* status_address(int* status) {
  const void* address = status;
  if (address == mpifort_abi_status_ignore || address == &mpifort_abi_f08_status_ignore ||
      address == mpifort_abi_sentinels.status_ignore) {
    return MPI_STATUS_IGNORE;
  }
  return reinterpret_cast<MPI_Status*>(status);
}

MPI_Status* statuses_address(int* statuses) {
  const void* address = statuses;
  if (address == mpifort_abi_statuses_ignore || address == mpifort_abi_f08_statuses_ignore ||
      address == mpifort_abi_sentinels.statuses_ignore) {
    return MPI_STATUSES_IGNORE;
  }
  return reinterpret_cast<MPI_Status*>(statuses);
}

int* weights_address(const int* weights) {
  const SentinelBlock& block = mpifort_abi_sentinels;
  if (weights == mpifort_abi_unweighted || weights == &block.unweighted) return MPI_UNWEIGHTED;
  if (weights == mpifort_abi_weights_empty || weights == &block.weights_empty) {
    return MPI_WEIGHTS_EMPTY;
  }
  return const_cast<int*>(weights);
}

int* errcodes_address(int* codes) {
  const bool ignored =
      codes == mpifort_abi_errcodes_ignore || codes == &mpifort_abi_sentinels.errcodes_ignore;
  return ignored ? MPI_ERRCODES_IGNORE : codes;
}

bool is_argv_null(const char* argv) {
  return argv == mpifort_abi_argv_null || argv == &mpifort_abi_sentinels.argv_null;
}

bool is_argvs_null(const char* argvs) {
  return argvs == mpifort_abi_argvs_null || argvs == &mpifort_abi_sentinels.argvs_null;
}

}  // namespace fulmar::fortran
