// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fortran_abi.h>

#include <array>
#include <string_view>

namespace fulmar::fortran {
namespace {

/// Whether the library below takes these facts before MPI_Init. Others have theirs from their own
/// configuration, and MPICH 5.0 ends the program that asks so early.
bool takes_facts_early() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  return PMPI_Get_library_version(text.data(), &length) == MPI_SUCCESS &&
         std::string_view(text.data()).starts_with("Fulmar ");
}

}  // namespace

void describe_compiler() {
  if (!takes_facts_early()) return;
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
