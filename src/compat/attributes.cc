// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/report.h"

// Attributes (MPI 5.0 section 7.7). The functions of a key get the extra state, so ours find there
// what they are to call. Predefined attributes whose values are constants point to those of the
// other ABI.

namespace fulmar::compat {
namespace {

template <class Handle>
using CopyFunction = int(Foreign<Handle> object, int keyval, void* extra_state, void* value_in,
                         void* value_out, int* flag);
template <class Handle>
using DeleteFunction = int(Foreign<Handle> object, int keyval, void* value, void* extra_state);

/// What our functions of a key need. Attributes may outlive the key, so it stays; equal keys share
/// one.
struct KeyvalState {
  Procedure* copy;
  Procedure* remove;
  void* extra;
  KeyvalState* next;
};

pthread_mutex_t states_lock = PTHREAD_MUTEX_INITIALIZER;
KeyvalState* states;  // under `states_lock`

/// Null without memory.
KeyvalState* state_of(Procedure* copy, Procedure* remove, void* extra) {
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

template <class Handle>
int copy_attribute(Handle object, int keyval, void* extra_state, void* value_in, void* value_out,
                   int* flag) {
  const auto& state = *static_cast<KeyvalState*>(extra_state);
  return code_in(reinterpret_cast<CopyFunction<Handle>*>(state.copy)(
      out(object), keyval, state.extra, value_in, value_out, flag));
}

template <class Handle>
int delete_attribute(Handle object, int keyval, void* value, void* extra_state) {
  const auto& state = *static_cast<KeyvalState*>(extra_state);
  return code_in(reinterpret_cast<DeleteFunction<Handle>*>(state.remove)(out(object), keyval, value,
                                                                         state.extra));
}

/// A null pointer is the function that copies or deletes nothing, in MPICH as in the standard ABI.
template <class Handle, class Create>
int create_keyval(Create create, Procedure* copy, Procedure* remove, int* keyval,
                  void* extra_state) {
  KeyvalState* state = state_of(copy, remove, extra_state);
  if (state == nullptr) return report(Problem::no_memory);
  return code_out(create(copy != nullptr ? copy_attribute<Handle> : nullptr,
                         remove != nullptr ? delete_attribute<Handle> : nullptr, keyval, state));
}

/// The address of the value of MPI_LASTUSEDCODE if the program's number is not ours.
std::atomic<int> last_used_code;

template <class Set>
const int* constant_in(const int* value) {
  for (const Pair& pair : Set::pairs) {
    if (pair.standard == *value) return &pair.foreign;
  }
  return value;
}

const int* last_code_in(const int* value) {
  const int foreign = code_out(*value);
  if (foreign == *value) return value;
  last_used_code.store(foreign, std::memory_order_relaxed);
  return reinterpret_cast<const int*>(&last_used_code);
}

/// The value of a predefined attribute, which is the address of an integer; `value` itself where it
/// is no constant.
const void* predefined_value(int keyval, const void* value) {
  const auto* number = static_cast<const int*>(value);
  switch (keyval) {
    case MPI_IO:
    case MPI_HOST:
      return constant_in<set::rank>(number);
    case MPI_LASTUSEDCODE:
      return last_code_in(number);
    case MPI_WIN_CREATE_FLAVOR:
      return constant_in<set::flavor>(number);
    case MPI_WIN_MODEL:
      return constant_in<set::memory_model>(number);
    default:
      return value;
  }
}

template <class Handle, class Get>
int get_attribute(Get get, Foreign<Handle> object, int keyval, void* value, int* flag) {
  const int number = to_standard<set::keyval>(keyval);
  const int result = get(in<Handle>(object), number, value, flag);
  if (result == MPI_SUCCESS && *flag != 0) {
    const void* found = *static_cast<void**>(value);
    *static_cast<const void**>(value) = predefined_value(number, found);
  }
  return code_out(result);
}

}  // namespace

int comm_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state) {
  return create_keyval<MPI_Comm>(functions.Comm_create_keyval, copy, remove, keyval, extra_state);
}
int type_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state) {
  return create_keyval<MPI_Datatype>(functions.Type_create_keyval, copy, remove, keyval,
                                     extra_state);
}
int win_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state) {
  return create_keyval<MPI_Win>(functions.Win_create_keyval, copy, remove, keyval, extra_state);
}
int keyval_create(Procedure* copy, Procedure* remove, int* keyval, void* extra_state) {
  return create_keyval<MPI_Comm>(functions.Keyval_create, copy, remove, keyval, extra_state);
}

int comm_get_attr(Foreign<MPI_Comm> comm, int keyval, void* value, int* flag) {
  return get_attribute<MPI_Comm>(functions.Comm_get_attr, comm, keyval, value, flag);
}
int type_get_attr(Foreign<MPI_Datatype> datatype, int keyval, void* value, int* flag) {
  return get_attribute<MPI_Datatype>(functions.Type_get_attr, datatype, keyval, value, flag);
}
int win_get_attr(Foreign<MPI_Win> win, int keyval, void* value, int* flag) {
  return get_attribute<MPI_Win>(functions.Win_get_attr, win, keyval, value, flag);
}
int attr_get(Foreign<MPI_Comm> comm, int keyval, void* value, int* flag) {
  return get_attribute<MPI_Comm>(functions.Attr_get, comm, keyval, value, flag);
}

}  // namespace fulmar::compat
