// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <dlfcn.h>
#include <fortran_abi.h>

namespace fulmar::fortran {
namespace {

/// MPI 5.0 (section 20.4) has the library told before MPI_Init, or any time. Fulmar, which has a function of this name, takes it
/// then. MPICH 5.0 ends the program; it knows the sizes that are told below by itself.
bool takes_descriptions() { return dlsym(RTLD_DEFAULT, "fulmar_describe") != nullptr; }

}  // namespace

void describe_compiler() {
  if (!takes_descriptions()) return;
  MPI_Info info = MPI_INFO_NULL;
  if (PMPI_Abi_get_fortran_info(&info) == MPI_SUCCESS && info == MPI_INFO_NULL &&
      PMPI_Info_create(&info) == MPI_SUCCESS) {
    PMPI_Info_set(info, "mpi_logical_size", "4");
    PMPI_Info_set(info, "mpi_integer_size", "4");
    PMPI_Info_set(info, "mpi_real_size", "4");
    PMPI_Info_set(info, "mpi_double_precision_size", "8");
    PMPI_Abi_set_fortran_info(info);
  }
  if (info != MPI_INFO_NULL) PMPI_Info_free(&info);
  int yes = 1;
  int no = 0;
  int is_set = 0;
  int ignored_yes = 0;
  int ignored_no = 0;
  if (PMPI_Abi_get_fortran_booleans(sizeof(int), &ignored_yes, &ignored_no, &is_set) ==
          MPI_SUCCESS &&
      is_set == 0) {
    PMPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no);
  }
}

}  // namespace fulmar::fortran
