// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "compat/cxx/objects.h"

namespace fulmar::compat::cxx {

/// The object for a communicator is of the class that it has in C++.
[[nodiscard]] inline Object<MPI_Comm> object_of(MPI_Comm comm) {
  int between_groups = 0;
  int topology = MPI_UNDEFINED;
  PMPI_Comm_test_inter(comm, &between_groups);
  if (between_groups != 0) return {table_of(table_of_intercomm), comm};
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) return {table_of(table_of_cartcomm), comm};
  if (topology == MPI_GRAPH) return {table_of(table_of_graphcomm), comm};
  return {table_of(table_of_intracomm), comm};
}
[[nodiscard]] inline Object<MPI_Datatype> object_of(MPI_Datatype datatype) {
  return {table_of(table_of_datatype), datatype};
}
[[nodiscard]] inline Object<MPI_Win> object_of(MPI_Win win) {
  return {table_of(table_of_win), win};
}
[[nodiscard]] inline Object<MPI_File> object_of(MPI_File file) {
  return {table_of(table_of_file), file};
}

/// What the functions of a key call: one of each pair, or none.
template <class Handle>
struct KeyvalState {
  using CCopy = int(Handle, int, void*, void*, void*, int*);
  using CRemove = int(Handle, int, void*, void*);
  using Copy = int(const Object<Handle>*, int, void*, void*, void*, bool*);
  using Remove = int(Object<Handle>*, int, void*, void*);
  CCopy* c_copy;
  CRemove* c_remove;
  Copy* copy;
  Remove* remove;
  void* extra;
};

}  // namespace fulmar::compat::cxx
