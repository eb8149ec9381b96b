// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/datatype/basic.h"
#include "mpi/info/info.h"

namespace fulmar::mpi {

/// The properties of the Fortran compiler from the keys of MPI_Abi_set_fortran_info (MPI 5.0
/// section 20.4); keys that are not set leave the defaults. MPI_ERR_INFO_VALUE for sizes that no
/// Fortran type has.
[[nodiscard]] base::Result<FortranTypeInfo> read_fortran_facts(const Info& info);

}  // namespace fulmar::mpi
