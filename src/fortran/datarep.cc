// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/datarep.h"

#include <initializer_list>

#undef MPI_CONVERSION_FN_NULL
#undef MPI_CONVERSION_FN_NULL_C

// Generated: MPI_CONVERSION_FN_NULL, under the names that compilers give it.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" void mpi_conversion_fn_null_();
extern "C" void mpi_conversion_fn_null__();
extern "C" void mpi_conversion_fn_null();
extern "C" void MPI_CONVERSION_FN_NULL();
extern "C" void mpi_conversion_fn_null_c_();
extern "C" void mpi_conversion_fn_null_c__();
extern "C" void mpi_conversion_fn_null_c();
extern "C" void MPI_CONVERSION_FN_NULL_C();
// NOLINTEND(readability-identifier-naming)

namespace fulmar::fortran {

bool is_null_conversion(Procedure* function) {
  for (Procedure* name :
       {mpi_conversion_fn_null_, mpi_conversion_fn_null__, mpi_conversion_fn_null,
        MPI_CONVERSION_FN_NULL, mpi_conversion_fn_null_c_, mpi_conversion_fn_null_c__,
        mpi_conversion_fn_null_c, MPI_CONVERSION_FN_NULL_C}) {
    if (function == name) return true;
  }
  return false;
}

void register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                      const MPI_Aint* extra, int* ierror, std::size_t datarep_length) {
  give(ierror, register_functions<int>(PMPI_Register_datarep, datarep, datarep_length,
                                       {read, write, extent, *extra}));
}

}  // namespace fulmar::fortran
