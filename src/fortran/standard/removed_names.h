// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// The inline functions of C (fulmar/mpi_removed.h, which mpi.h includes) do the work, over PMPI_ names as in all
// of this library.
#define MPI_Type_create_struct PMPI_Type_create_struct
#define MPI_Type_create_resized PMPI_Type_create_resized
#define MPI_Type_create_hvector PMPI_Type_create_hvector
#define MPI_Type_create_hindexed PMPI_Type_create_hindexed
#define MPI_Type_get_extent PMPI_Type_get_extent
#define MPI_Type_free PMPI_Type_free
#define MPI_Get_address PMPI_Get_address
#define MPI_Comm_create_errhandler PMPI_Comm_create_errhandler
#define MPI_Comm_set_errhandler PMPI_Comm_set_errhandler
#define MPI_Comm_get_errhandler PMPI_Comm_get_errhandler

#include <mpi.h>
