// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/sentinels.h"

// MPICH's Fortran has common blocks for mpif.h and the module mpi, and variables for mpi_f08. Programs define the
// blocks; the dynamic linker makes this library use the program's.

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {

struct MpichPrivate1 {
  int bottom;
  int in_place;
  int status_ignore[fulmar::fortran::status_ints];
} mpipriv1_;
struct MpichPrivate2 {
  int statuses_ignore[fulmar::fortran::status_ints];
  int errcodes_ignore;
} mpipriv2_;
struct MpichPrivateC {
  char argvs_null;
  char argv_null;
} mpiprivc_;
int mpifcmb5_;  // MPI_UNWEIGHTED
int mpifcmb9_;  // MPI_WEIGHTS_EMPTY
int mpifcmba_;  // MPI_BUFFER_AUTOMATIC

int MPIR_F08_MPI_BOTTOM;
int MPIR_F08_MPI_IN_PLACE;
MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];

// Variables of the module mpi_f08_link_constants, as gfortran and as Intel's compilers call them.
extern int mpich_f08_errcodes_ignore asm("__mpi_f08_link_constants_MOD_mpi_errcodes_ignore");
extern int mpich_f08_unweighted asm("__mpi_f08_link_constants_MOD_mpi_unweighted");
extern int mpich_f08_weights_empty asm("__mpi_f08_link_constants_MOD_mpi_weights_empty");
extern char mpich_f08_argv_null asm("__mpi_f08_link_constants_MOD_mpi_argv_null");
extern char mpich_f08_argvs_null asm("__mpi_f08_link_constants_MOD_mpi_argvs_null");
extern int intel_f08_errcodes_ignore asm("mpi_f08_link_constants_mp_mpi_errcodes_ignore_");
extern int intel_f08_unweighted asm("mpi_f08_link_constants_mp_mpi_unweighted_");
extern int intel_f08_weights_empty asm("mpi_f08_link_constants_mp_mpi_weights_empty_");
extern char intel_f08_argv_null asm("mpi_f08_link_constants_mp_mpi_argv_null_");
extern char intel_f08_argvs_null asm("mpi_f08_link_constants_mp_mpi_argvs_null_");
int mpich_f08_errcodes_ignore;
int mpich_f08_unweighted;
int mpich_f08_weights_empty;
char mpich_f08_argv_null;
char mpich_f08_argvs_null;
int intel_f08_errcodes_ignore;
int intel_f08_unweighted;
int intel_f08_weights_empty;
char intel_f08_argv_null;
char intel_f08_argvs_null;

// Pointers of libmpi.so.12 for C (MPI 5.0 section 19.3.5).
extern int* MPI_F_STATUS_IGNORE;
extern int* MPI_F_STATUSES_IGNORE;
extern MPI_Status* MPI_F08_STATUS_IGNORE;
extern MPI_Status* MPI_F08_STATUSES_IGNORE;

}  // extern "C"
#pragma GCC visibility pop

namespace {

[[gnu::constructor]] void tell_c() {
  MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
  MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
  MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
  MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

}  // namespace
// NOLINTEND(readability-identifier-naming)

namespace fulmar::fortran {

void* buffer_address(const void* buffer) {
  if (buffer == &mpipriv1_.in_place || buffer == &MPIR_F08_MPI_IN_PLACE) return MPI_IN_PLACE;
  if (buffer == &mpipriv1_.bottom || buffer == &MPIR_F08_MPI_BOTTOM) return MPI_BOTTOM;
  if (buffer == &mpifcmba_) return MPI_BUFFER_AUTOMATIC;
  return const_cast<void*>(buffer);
}

MPI_Status* status_address(int* status) {
  const void* address = status;
  if (address == mpipriv1_.status_ignore || address == &MPIR_F08_MPI_STATUS_IGNORE_OBJ) {
    return MPI_STATUS_IGNORE;
  }
  return reinterpret_cast<MPI_Status*>(status);
}

MPI_Status* statuses_address(int* statuses) {
  const void* address = statuses;
  if (address == mpipriv2_.statuses_ignore || address == MPIR_F08_MPI_STATUSES_IGNORE_OBJ) {
    return MPI_STATUSES_IGNORE;
  }
  return reinterpret_cast<MPI_Status*>(statuses);
}

int* weights_address(const int* weights) {
  if (weights == &mpifcmb5_ || weights == &mpich_f08_unweighted || weights == &intel_f08_unweighted)
    return MPI_UNWEIGHTED;
  if (weights == &mpifcmb9_ || weights == &mpich_f08_weights_empty ||
      weights == &intel_f08_weights_empty) {
    return MPI_WEIGHTS_EMPTY;
  }
  return const_cast<int*>(weights);
}

int* errcodes_address(int* codes) {
  const bool ignored = codes == &mpipriv2_.errcodes_ignore || codes == &mpich_f08_errcodes_ignore ||
                       codes == &intel_f08_errcodes_ignore;
  return ignored ? MPI_ERRCODES_IGNORE : codes;
}

bool is_argv_null(const char* argv) {
  return argv == &mpiprivc_.argv_null || argv == &mpich_f08_argv_null ||
         argv == &intel_f08_argv_null;
}

bool is_argvs_null(const char* argvs) {
  return argvs == &mpiprivc_.argvs_null || argvs == &mpich_f08_argvs_null ||
         argvs == &intel_f08_argvs_null;
}

}  // namespace fulmar::fortran
