// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/datarep.h"

namespace fulmar::fortran {

void register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                        const MPI_Aint* extra, int* ierror, std::size_t datarep_length) {
  give(ierror, register_functions<MPI_Count>(PMPI_Register_datarep_c, datarep, datarep_length,
                                             {read, write, extent, *extra}));
}

}  // namespace fulmar::fortran
