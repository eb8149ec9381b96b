// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <type_traits>
#include <utility>

#include "compat/cxx/mpich/classes.h"
#include "fortran/procedure_pool.h"

// Functions of a program that get objects of C++: of attributes, error handlers, operations, generalized requests and data
// representations. Where C has an extra state, it says what is to be called; elsewhere a fixed number of functions of C each
// call one of the program.

namespace {

using fulmar::fortran::Procedure;
using fulmar::fortran::ProcedurePool;

template <class Class>
using HandleOf = decltype(Class::handle);

/// Calls a function with the object for a handle; a communicator is of the class that it has in C++.
template <class Class, class Function>
auto with_object(HandleOf<Class> handle, Function function) {
  if constexpr (std::is_same_v<Class, MPI::Comm>) {
    int between_groups = 0;
    int topology = MPI_UNDEFINED;
    PMPI_Comm_test_inter(handle, &between_groups);
    MPI::Intercomm inter(handle);
    if (between_groups != 0) return function(inter);
    PMPI_Topo_test(handle, &topology);
    MPI::Cartcomm grid(handle);
    MPI::Graphcomm graph(handle);
    MPI::Intracomm intra(handle);
    return topology == MPI_CART    ? function(grid)
           : topology == MPI_GRAPH ? function(graph)
                                   : function(intra);
  } else {
    Class object(handle);
    return function(object);
  }
}

// Attributes. What a key calls stays as long as the process, as attributes may outlive the key.

template <class Class>
struct KeyvalState {
  typename Class::CopyAttribute* copy;
  typename Class::DeleteAttribute* remove;
  void* extra;
};

template <class Class>
int copy_attribute(HandleOf<Class> handle, int keyval, void* extra, void* in, void* out,
                   int* flag) {
  const auto& state = *static_cast<KeyvalState<Class>*>(extra);
  bool copied = false;
  const int code = with_object<Class>(handle, [&](const Class& object) {
    return state.copy(object, keyval, state.extra, in, out, copied);
  });
  *flag = copied ? 1 : 0;
  return code;
}
template <class Class>
int delete_attribute(HandleOf<Class> handle, int keyval, void* value, void* extra) {
  const auto& state = *static_cast<KeyvalState<Class>*>(extra);
  return with_object<Class>(
      handle, [&](Class& object) { return state.remove(object, keyval, value, state.extra); });
}

template <class Class, class Create>
int create_keyval(Create create, const KeyvalState<Class>& wanted) {
  auto* state = new KeyvalState<Class>(wanted);
  int keyval = MPI_KEYVAL_INVALID;
  const int code =
      create(wanted.copy != nullptr ? copy_attribute<Class> : nullptr,
             wanted.remove != nullptr ? delete_attribute<Class> : nullptr, &keyval, state);
  if (code != MPI_SUCCESS) {
    delete state;
    MPI::MPIR_Call_world_errhand(code);
  }
  return keyval;
}

// Error handlers.

constexpr int most_errhandlers = 64;

template <class Class>
ProcedurePool<most_errhandlers> errhandlers;

template <class Class, int place>
void call_errhandler(HandleOf<Class>* handle, int* code, ...) {
  auto* function =
      reinterpret_cast<typename Class::ErrhandlerFunction*>(errhandlers<Class>.get(place));
  with_object<Class>(*handle, [&](Class& object) {
    function(object, code);
    return 0;
  });
}
template <class Class, int... place>
auto errhandler_function(int wanted, std::integer_sequence<int, place...> /*all*/) {
  using Function = void(HandleOf<Class>*, int*, ...);
  static constexpr Function* all[] = {call_errhandler<Class, place>...};
  return all[wanted];
}

template <class Class, class Create>
MPI::Errhandler create_errhandler(Create create, typename Class::ErrhandlerFunction* function) {
  MPI::Errhandler handler;
  const int place = errhandlers<Class>.place_of(reinterpret_cast<Procedure*>(function));
  const int code = place < 0
                       ? static_cast<int>(MPI_ERR_NO_MEM)
                       : create(errhandler_function<Class>(
                                    place, std::make_integer_sequence<int, most_errhandlers>()),
                                &handler.handle);
  if (code != MPI_SUCCESS) MPI::MPIR_Call_world_errhand(code);
  return handler;
}

// Operations.

constexpr int most_operations = 256;

ProcedurePool<most_operations> operations;

template <int place>
void call_operation(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  auto* function = reinterpret_cast<MPI::Op::UserFunction*>(operations.get(place));
  const MPI::Datatype object(*datatype);
  function(in, inout, *length, object);
}
template <int... place>
MPI_User_function* operation(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_User_function* all[] = {call_operation<place>...};
  return all[wanted];
}

// Generalized requests. The state goes with the request.

struct GrequestState {
  MPI::Grequest::Query* query;
  MPI::Grequest::FreeFunction* free;
  MPI::Grequest::CancelFunction* cancel;
  void* extra;
};

int query_request(void* extra, MPI_Status* status) {
  const auto& state = *static_cast<GrequestState*>(extra);
  MPI::Status object(*status);
  const int code = state.query(state.extra, object);
  *status = object.handle;
  return code;
}
int free_request(void* extra) {
  auto* state = static_cast<GrequestState*>(extra);
  const int code = state->free(state->extra);
  delete state;
  return code;
}
int cancel_request(void* extra, int complete) {
  const auto& state = *static_cast<GrequestState*>(extra);
  return state.cancel(state.extra, complete != 0);
}

// Data representations. They stay as long as the process.

struct DatarepState {
  MPI::DatarepConversion* read;
  MPI::DatarepConversion* write;
  MPI::DatarepExtent* extent;
  void* extra;
};

template <auto conversion>
int convert(void* buffer, MPI_Datatype datatype, int count, void* file_buffer, MPI_Offset position,
            void* extra) {
  const auto& state = *static_cast<DatarepState*>(extra);
  MPI::Datatype object(datatype);
  return (state.*conversion)(buffer, object, count, file_buffer, position, state.extra);
}
int extent_of(MPI_Datatype datatype, MPI_Aint* extent, void* extra) {
  const auto& state = *static_cast<DatarepState*>(extra);
  const MPI::Datatype object(datatype);
  return state.extent(object, *extent, state.extra);
}

}  // namespace

#pragma GCC visibility push(default)
namespace MPI {

int Comm::Create_keyval(CopyAttribute* copy, DeleteAttribute* remove, void* extra_state) {
  return create_keyval<Comm>(MPI_Comm_create_keyval, {copy, remove, extra_state});
}
int Datatype::Create_keyval(CopyAttribute* copy, DeleteAttribute* remove, void* extra_state) {
  return create_keyval<Datatype>(MPI_Type_create_keyval, {copy, remove, extra_state});
}
int Win::Create_keyval(CopyAttribute* copy, DeleteAttribute* remove, void* extra_state) {
  return create_keyval<Win>(MPI_Win_create_keyval, {copy, remove, extra_state});
}

Errhandler Comm::Create_errhandler(ErrhandlerFunction* function) {
  return create_errhandler<Comm>(MPI_Comm_create_errhandler, function);
}
Errhandler Win::Create_errhandler(ErrhandlerFunction* function) {
  return create_errhandler<Win>(MPI_Win_create_errhandler, function);
}
Errhandler File::Create_errhandler(ErrhandlerFunction* function) {
  return create_errhandler<File>(MPI_File_create_errhandler, function);
}

void Op::Init(UserFunction* function, bool commute) {
  const int place = operations.place_of(reinterpret_cast<Procedure*>(function));
  const int code =
      place < 0
          ? static_cast<int>(MPI_ERR_NO_MEM)
          : MPI_Op_create(operation(place, std::make_integer_sequence<int, most_operations>()),
                          static_cast<int>(commute), &handle);
  if (code != MPI_SUCCESS) MPIR_Call_world_errhand(code);
}

Grequest Grequest::Start(Query* query, FreeFunction* free, CancelFunction* cancel,
                         void* extra_state) {
  Grequest request;
  auto* state = new GrequestState{query, free, cancel, extra_state};
  const int code =
      MPI_Grequest_start(query_request, free_request, cancel_request, state, &request.handle);
  if (code != MPI_SUCCESS) {
    delete state;
    MPIR_Call_world_errhand(code);
  }
  return request;
}

void Register_datarep(const char* datarep, DatarepConversion* read, DatarepConversion* write,
                      DatarepExtent* extent, void* extra_state) {
  auto* state = new DatarepState{read, write, extent, extra_state};
  const int code = MPI_Register_datarep(
      datarep, read != nullptr ? convert<&DatarepState::read> : MPI_CONVERSION_FN_NULL,
      write != nullptr ? convert<&DatarepState::write> : MPI_CONVERSION_FN_NULL, extent_of, state);
  if (code != MPI_SUCCESS) {
    delete state;
    MPIR_Call_world_errhand(code);
  }
}
void Register_datarep(const char* datarep, DatarepConversionOfIntel* read,
                      DatarepConversionOfIntel* write, DatarepExtent* extent, void* extra_state) {
  static_assert(sizeof(long long) == sizeof(Offset));
  Register_datarep(datarep, reinterpret_cast<DatarepConversion*>(read),
                   reinterpret_cast<DatarepConversion*>(write), extent, extra_state);
}

}  // namespace MPI
#pragma GCC visibility pop
