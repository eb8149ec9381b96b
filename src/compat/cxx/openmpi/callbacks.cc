// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/cxx/openmpi/callbacks.h"

#include <cstdlib>
#include <new>

// Attributes, generalized requests and data representations: their functions get an extra state, in which lies what is to be
// called. The state of a key or of a data representation stays as long as the process, as attributes may outlive the key.

namespace fulmar::compat::cxx {
namespace {

template <class Handle>
int copy_attribute(Handle handle, int keyval, void* extra, void* value_in, void* value_out,
                   int* flag) {
  const auto& state = *static_cast<KeyvalState<Handle>*>(extra);
  const Object<Handle> object = object_of(handle);
  bool copied = false;
  const int result = state.copy(&object, keyval, state.extra, value_in, value_out, &copied);
  *flag = copied ? 1 : 0;
  return result;
}
template <class Handle>
int copy_attribute_of_c(Handle handle, int keyval, void* extra, void* value_in, void* value_out,
                        int* flag) {
  const auto& state = *static_cast<KeyvalState<Handle>*>(extra);
  return state.c_copy(handle, keyval, state.extra, value_in, value_out, flag);
}
template <class Handle>
int delete_attribute(Handle handle, int keyval, void* value, void* extra) {
  const auto& state = *static_cast<KeyvalState<Handle>*>(extra);
  if (state.remove == nullptr) return state.c_remove(handle, keyval, value, state.extra);
  Object<Handle> object = object_of(handle);
  return state.remove(&object, keyval, value, state.extra);
}

template <class Handle, class Create>
int create_keyval(Create create, const KeyvalState<Handle>& wanted, int* keyval) {
  void* memory = std::malloc(sizeof(KeyvalState<Handle>));
  if (memory == nullptr) return MPI_ERR_NO_MEM;
  auto* state = new (memory) KeyvalState<Handle>(wanted);
  const bool copies = wanted.copy != nullptr || wanted.c_copy != nullptr;
  const bool deletes = wanted.remove != nullptr || wanted.c_remove != nullptr;
  const int result = create(!copies                  ? nullptr
                            : wanted.copy != nullptr ? copy_attribute<Handle>
                                                     : copy_attribute_of_c<Handle>,
                            deletes ? delete_attribute<Handle> : nullptr, keyval, state);
  if (result != MPI_SUCCESS) std::free(memory);
  return result;
}

}  // namespace
}  // namespace fulmar::compat::cxx

using fulmar::compat::cxx::create_keyval;
using fulmar::compat::cxx::KeyvalState;

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {

int comm_keyval(KeyvalState<MPI_Comm>::CCopy* c_copy, KeyvalState<MPI_Comm>::CRemove* c_remove, KeyvalState<MPI_Comm>::Copy* copy, KeyvalState<MPI_Comm>::Remove* remove, void* extra, int* keyval) asm(
    "_ZN3MPI4Comm16do_create_keyvalEPFiP19ompi_communicator_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_iS3_"
    "S3_S3_RbEPFiRS0_"
    "iS3_S3_ES3_Ri");
int type_keyval(KeyvalState<MPI_Datatype>::CCopy* c_copy, KeyvalState<MPI_Datatype>::CRemove* c_remove, KeyvalState<MPI_Datatype>::Copy* copy, KeyvalState<MPI_Datatype>::Remove* remove, void* extra, int* keyval) asm(
    "_ZN3MPI8Datatype16do_create_keyvalEPFiP15ompi_datatype_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_iS3_"
    "PKvS3_RbEPFiRS0_"
    "iS3_S3_ES3_Ri");
int win_keyval(KeyvalState<MPI_Win>::CCopy* c_copy, KeyvalState<MPI_Win>::CRemove* c_remove, KeyvalState<MPI_Win>::Copy* copy, KeyvalState<MPI_Win>::Remove* remove, void* extra, int* keyval) asm(
    "_ZN3MPI3Win16do_create_keyvalEPFiP10ompi_win_tiPvS3_S3_PiEPFiS2_iS3_S3_EPFiRKS0_iS3_S3_S3_"
    "RbEPFiRS0_iS3_S3_ES3_"
    "Ri");

int comm_keyval(KeyvalState<MPI_Comm>::CCopy* c_copy, KeyvalState<MPI_Comm>::CRemove* c_remove,
                KeyvalState<MPI_Comm>::Copy* copy, KeyvalState<MPI_Comm>::Remove* remove,
                void* extra, int* keyval) {
  return create_keyval<MPI_Comm>(PMPI_Comm_create_keyval, {c_copy, c_remove, copy, remove, extra},
                                 keyval);
}
int type_keyval(KeyvalState<MPI_Datatype>::CCopy* c_copy,
                KeyvalState<MPI_Datatype>::CRemove* c_remove, KeyvalState<MPI_Datatype>::Copy* copy,
                KeyvalState<MPI_Datatype>::Remove* remove, void* extra, int* keyval) {
  return create_keyval<MPI_Datatype>(PMPI_Type_create_keyval,
                                     {c_copy, c_remove, copy, remove, extra}, keyval);
}
int win_keyval(KeyvalState<MPI_Win>::CCopy* c_copy, KeyvalState<MPI_Win>::CRemove* c_remove,
               KeyvalState<MPI_Win>::Copy* copy, KeyvalState<MPI_Win>::Remove* remove, void* extra,
               int* keyval) {
  return create_keyval<MPI_Win>(PMPI_Win_create_keyval, {c_copy, c_remove, copy, remove, extra},
                                keyval);
}

}  // extern "C"

// Generalized requests: the header makes the state with `new`.

namespace {

/// MPI::Status of Open MPI's header.
struct StatusObject {
  const void* table;
  MPI_Status status;
};
struct GrequestState {
  void* extra;
  int (*query)(void*, StatusObject*);
  int (*free)(void*);
  int (*cancel)(void*, bool);
};

}  // namespace

extern "C" {
[[gnu::weak]] void delete_object(void* object) asm("_ZdlPv");

int ompi_mpi_cxx_grequest_query_fn_intercept(void* state, MPI_Status* status);
int ompi_mpi_cxx_grequest_free_fn_intercept(void* state);
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void* state, int cancelled);
}

int ompi_mpi_cxx_grequest_query_fn_intercept(void* state, MPI_Status* status) {
  const auto& grequest = *static_cast<GrequestState*>(state);
  StatusObject object = {fulmar::compat::cxx::table_of(table_of_status), *status};
  const int result = grequest.query(grequest.extra, &object);
  *status = object.status;
  return result;
}
int ompi_mpi_cxx_grequest_free_fn_intercept(void* state) {
  const auto& grequest = *static_cast<GrequestState*>(state);
  const int result = grequest.free(grequest.extra);
  if (delete_object != nullptr) delete_object(state);
  return result;
}
int ompi_mpi_cxx_grequest_cancel_fn_intercept(void* state, int cancelled) {
  const auto& grequest = *static_cast<GrequestState*>(state);
  return grequest.cancel(grequest.extra, cancelled != 0);
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
