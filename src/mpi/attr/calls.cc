// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/attr/calls.h"

namespace fulmar::mpi {
namespace {

using base::Error;

Error create(Library& library, KeyvalKind kind, CopyFunction copy, DeleteFunction remove, int& out,
             void* extra_state) {
  const auto made = library.keyvals->create(kind, copy, remove, extra_state);
  if (made.ok()) out = made.value()->number;
  return made.error();
}

Error free_keyval(Library& library, KeyvalKind kind, int& keyval) {
  const auto found = library.keyvals->find(kind, keyval, Keyvals::Freed::found);
  if (found.failed()) return found.error();
  library.keyvals->free(*found.value());
  keyval = MPI_KEYVAL_INVALID;
  return {};
}

}  // namespace

Error comm_create_keyval(Library& library, MPI_Comm_copy_attr_function* copy,
                         MPI_Comm_delete_attr_function* remove, int& out, void* extra_state) {
  return create(library, KeyvalKind::comm, {.comm = copy}, {.comm = remove}, out, extra_state);
}
Error type_create_keyval(Library& library, MPI_Type_copy_attr_function* copy,
                         MPI_Type_delete_attr_function* remove, int& out, void* extra_state) {
  return create(library, KeyvalKind::type, {.type = copy}, {.type = remove}, out, extra_state);
}
Error win_create_keyval(Library& library, MPI_Win_copy_attr_function* copy,
                        MPI_Win_delete_attr_function* remove, int& out, void* extra_state) {
  return create(library, KeyvalKind::win, {.win = copy}, {.win = remove}, out, extra_state);
}
Error keyval_create(Library& library, MPI_Copy_function* copy, MPI_Delete_function* remove,
                    int& out, void* extra_state) {
  return create(library, KeyvalKind::comm, {.comm = copy}, {.comm = remove}, out, extra_state);
}

Error comm_free_keyval(Library& library, int& keyval) {
  return free_keyval(library, KeyvalKind::comm, keyval);
}
Error type_free_keyval(Library& library, int& keyval) {
  return free_keyval(library, KeyvalKind::type, keyval);
}
Error win_free_keyval(Library& library, int& keyval) {
  return free_keyval(library, KeyvalKind::win, keyval);
}
Error keyval_free(Library& library, int& keyval) {
  return free_keyval(library, KeyvalKind::comm, keyval);
}

}  // namespace fulmar::mpi
