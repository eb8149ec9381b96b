// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <pthread.h>

#include <cstdlib>
#include <new>

#include "fortran/attribute_cells.h"
#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/report.h"

namespace fulmar::fortran {
namespace {

/// The widths of attributes: INTEGER(KIND=MPI_ADDRESS_KIND) since MPI-2, INTEGER in MPI_KEYVAL_CREATE.
template <class Value>
using CopyProcedure = void(const int* object, const int* keyval, const Value* extra,
                           const Value* value_in, Value* value_out, int* flag, int* ierror);
template <class Value>
using DeleteProcedure = void(const int* object, const int* keyval, const Value* value,
                             const Value* extra, int* ierror);

/// What the C functions of a keyval need: its extra state. Attributes may outlive the keyval, so it stays;
/// equal keyvals share one.
struct KeyvalState {
  Procedure* copy;
  Procedure* remove;
  MPI_Aint extra;
  KeyvalState* next;
};

pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER;
KeyvalState* states;  // under `states_lock`

/// Null without memory.
KeyvalState* state_of(Procedure* copy, Procedure* remove, MPI_Aint extra) {
  pthread_mutex_lock(&states_lock);
  KeyvalState* state = states;
  while (state != nullptr &&
         (state->copy != copy || state->remove != remove || state->extra != extra)) {
    state = state->next;
  }
  if (state == nullptr) {
    void* memory = std::malloc(sizeof(KeyvalState));
    if (memory != nullptr) states = state = new (memory) KeyvalState{copy, remove, extra, states};
  }
  pthread_mutex_unlock(&states_lock);
  return state;
}

template <class Handle, class Value>
int copy_attribute(Handle object, int keyval, void* extra_state, void* value_in, void* value_out,
                   int* flag) {
  const auto& state = *static_cast<KeyvalState*>(extra_state);
  const int object_number = number(object);
  const auto extra = static_cast<Value>(state.extra);
  const auto before = static_cast<Value>(value_of_attribute(value_in));
  Value copied = 0;
  int copies = 0;
  int ierror = MPI_SUCCESS;
  reinterpret_cast<CopyProcedure<Value>*>(state.copy)(&object_number, &keyval, &extra, &before,
                                                      &copied, &copies, &ierror);
  *flag = logical(copies);
  if (ierror != MPI_SUCCESS || copies == 0) return ierror;
  // A pointer of C that the procedure has passed on stays one, or C would get the address of a cell.
  if (copied == before && !is_cell(value_in)) {
    *static_cast<void**>(value_out) = value_in;
    return MPI_SUCCESS;
  }
  void* cell = make_cell(copied);
  *static_cast<void**>(value_out) = cell;
  return cell != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

template <class Handle, class Value>
int delete_attribute(Handle object, int keyval, void* attribute, void* extra_state) {
  const auto& state = *static_cast<KeyvalState*>(extra_state);
  const int object_number = number(object);
  const auto extra = static_cast<Value>(state.extra);
  const auto value = static_cast<Value>(value_of_attribute(attribute));
  int ierror = MPI_SUCCESS;
  reinterpret_cast<DeleteProcedure<Value>*>(state.remove)(&object_number, &keyval, &value, &extra,
                                                          &ierror);
  if (ierror == MPI_SUCCESS) free_cell(attribute);
  return ierror;
}

template <class Handle, class Value, class Create>
void create_keyval(Create create, Procedure* copy, Procedure* remove, int* keyval, Value extra,
                   int* ierror) {
  KeyvalState* state = state_of(copy, remove, extra);
  if (state == nullptr) return give(ierror, report(Problem::no_memory));
  give(ierror,
       create(copy_attribute<Handle, Value>, delete_attribute<Handle, Value>, keyval, state));
}

template <class Handle, class Set>
void set_attribute(Set set, int object, int keyval, MPI_Aint value, int* ierror) {
  void* cell = make_cell(value);
  if (cell == nullptr) return give(ierror, report(Problem::no_memory));
  const int result = set(handle<Handle>(object), keyval, cell);
  if (result != MPI_SUCCESS) free_cell(cell);
  give(ierror, result);
}

/// The value behind the pointer that C gets for a predefined attribute.
MPI_Aint predefined_value(int keyval, void* attribute) {
  if (keyval == MPI_WIN_BASE) return reinterpret_cast<MPI_Aint>(attribute);
  if (keyval == MPI_WIN_SIZE) return *static_cast<MPI_Aint*>(attribute);
  return *static_cast<int*>(attribute);
}

template <class Handle, class Value, class Get>
void get_attribute(Get get, int object, int keyval, Value* value, int* flag, int* ierror) {
  void* attribute = nullptr;
  int found = 0;
  const int key = keyval_in(keyval);
  const int result = get(handle<Handle>(object), key, static_cast<void*>(&attribute), &found);
  if (result == MPI_SUCCESS && found != 0) {
    *value = static_cast<Value>(is_predefined(key) ? predefined_value(key, attribute)
                                                   : value_of_attribute(attribute));
  }
  *flag = logical(found);
  give(ierror, result);
}

}  // namespace

void comm_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                        int* ierror) {
  create_keyval<MPI_Comm>(PMPI_Comm_create_keyval, copy, remove, keyval, *extra, ierror);
}
void type_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                        int* ierror) {
  create_keyval<MPI_Datatype>(PMPI_Type_create_keyval, copy, remove, keyval, *extra, ierror);
}
void win_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                       int* ierror) {
  create_keyval<MPI_Win>(PMPI_Win_create_keyval, copy, remove, keyval, *extra, ierror);
}
void keyval_create(Procedure* copy, Procedure* remove, int* keyval, const int* extra, int* ierror) {
  create_keyval<MPI_Comm>(PMPI_Comm_create_keyval, copy, remove, keyval, *extra, ierror);
}

void comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* value, int* ierror) {
  set_attribute<MPI_Comm>(PMPI_Comm_set_attr, *comm, *keyval, *value, ierror);
}
void comm_get_attr(const int* comm, const int* keyval, MPI_Aint* value, int* flag, int* ierror) {
  get_attribute<MPI_Comm>(PMPI_Comm_get_attr, *comm, *keyval, value, flag, ierror);
}
void type_set_attr(const int* datatype, const int* keyval, const MPI_Aint* value, int* ierror) {
  set_attribute<MPI_Datatype>(PMPI_Type_set_attr, *datatype, *keyval, *value, ierror);
}
void type_get_attr(const int* datatype, const int* keyval, MPI_Aint* value, int* flag,
                   int* ierror) {
  get_attribute<MPI_Datatype>(PMPI_Type_get_attr, *datatype, *keyval, value, flag, ierror);
}
void win_set_attr(const int* win, const int* keyval, const MPI_Aint* value, int* ierror) {
  set_attribute<MPI_Win>(PMPI_Win_set_attr, *win, *keyval, *value, ierror);
}
void win_get_attr(const int* win, const int* keyval, MPI_Aint* value, int* flag, int* ierror) {
  get_attribute<MPI_Win>(PMPI_Win_get_attr, *win, *keyval, value, flag, ierror);
}
void attr_put(const int* comm, const int* keyval, const int* value, int* ierror) {
  set_attribute<MPI_Comm>(PMPI_Comm_set_attr, *comm, *keyval, *value, ierror);
}
void attr_get(const int* comm, const int* keyval, int* value, int* flag, int* ierror) {
  get_attribute<MPI_Comm>(PMPI_Comm_get_attr, *comm, *keyval, value, flag, ierror);
}

void dup_fn(const MPI_Aint* value_in, MPI_Aint* value_out, int* flag, int* ierror) {
  *value_out = *value_in;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}
void old_dup_fn(const int* value_in, int* value_out, int* flag, int* ierror) {
  *value_out = *value_in;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}
void null_copy_fn(int* flag, int* ierror) {
  *flag = 0;
  *ierror = MPI_SUCCESS;
}
void null_delete_fn(int* ierror) { *ierror = MPI_SUCCESS; }

}  // namespace fulmar::fortran
