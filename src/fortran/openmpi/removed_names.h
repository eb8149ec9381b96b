// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// This ABI has the removed functions themselves; in this library all are called by PMPI_ names.
#define MPI_Address PMPI_Address
#define MPI_Errhandler_set PMPI_Errhandler_set
#define MPI_Errhandler_get PMPI_Errhandler_get
#define MPI_Type_extent PMPI_Type_extent
#define MPI_Type_lb PMPI_Type_lb
#define MPI_Type_ub PMPI_Type_ub
#define MPI_Type_hvector PMPI_Type_hvector
#define MPI_Type_hindexed PMPI_Type_hindexed
#define MPI_Type_struct PMPI_Type_struct

#include <mpi.h>
