// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <utility>

#include "compat/cxx/openmpi/callbacks.h"
#include "fortran/procedure_pool.h"

// The functions of libmpi_cxx.so.40 that Open MPI's header does not have inline: the ends of objects, and what calls
// functions of the program with C++ objects. Reductions and error handlers get no extra state in C, so a fixed number of
// functions each call one of the program.

namespace {

using fulmar::compat::cxx::Object;
using fulmar::compat::cxx::object_of;
using fulmar::compat::cxx::table_of;
using fulmar::fortran::Procedure;
using fulmar::fortran::ProcedurePool;

// Error handlers.

constexpr int most_functions = 64;

template <class Handle>
ProcedurePool<most_functions> errhandlers;

template <class Handle, int place>
void call_errhandler(Handle* handle, int* code, ...) {
  using Function = void(Object<Handle>*, int*, ...);
  Object<Handle> object = object_of(*handle);
  reinterpret_cast<Function*>(errhandlers<Handle>.get(place))(&object, code);
}
template <class Handle, int... place>
auto errhandler_function(int wanted, std::integer_sequence<int, place...> /*all*/) {
  using Function = void(Handle*, int*, ...);
  static constexpr Function* all[] = {call_errhandler<Handle, place>...};
  return all[wanted];
}

/// Returned through a hidden pointer, as the class has a destructor.
using Errhandler = Object<MPI_Errhandler>;

template <class Handle, class Create>
Errhandler* create_errhandler(Errhandler* result, Create create, Procedure* function) {
  *result = {table_of(table_of_errhandler), MPI_ERRHANDLER_NULL};
  const int place = errhandlers<Handle>.place_of(function);
  if (place < 0) {
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
  } else {
    create(errhandler_function<Handle>(place, std::make_integer_sequence<int, most_functions>()),
           &result->handle);
  }
  return result;
}

}  // namespace

// Of the program: names and arguments are those of Open MPI's header.
// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {

void comm_init(Object<MPI_Comm>* self) asm("_ZN3MPI4CommC1Ev");
void comm_init_base(Object<MPI_Comm>* self) asm("_ZN3MPI4CommC2Ev");
void comm_copy(Object<MPI_Comm>* self,
               const Object<MPI_Comm>* other) asm("_ZN3MPI4CommC1ERKNS_9Comm_NullE");
void comm_copy_base(Object<MPI_Comm>* self,
                    const Object<MPI_Comm>* other) asm("_ZN3MPI4CommC2ERKNS_9Comm_NullE");
void datatype_free(Object<MPI_Datatype>* self) asm("_ZN3MPI8Datatype4FreeEv");
void win_free(Object<MPI_Win>* self) asm("_ZN3MPI3Win4FreeEv");
void file_close(Object<MPI_File>* self) asm("_ZN3MPI4File5CloseEv");
Errhandler* comm_create_errhandler(Errhandler* result, Procedure* function) asm(
    "_ZN3MPI4Comm17Create_errhandlerEPFvRS0_PizE");
Errhandler* win_create_errhandler(Errhandler* result, Procedure* function) asm(
    "_ZN3MPI3Win17Create_errhandlerEPFvRS0_PizE");
Errhandler* file_create_errhandler(Errhandler* result, Procedure* function) asm(
    "_ZN3MPI4File17Create_errhandlerEPFvRS0_PizE");

void comm_init(Object<MPI_Comm>* self) { *self = {table_of(table_of_comm), MPI_COMM_NULL}; }
void comm_init_base(Object<MPI_Comm>* self) { comm_init(self); }
void comm_copy(Object<MPI_Comm>* self, const Object<MPI_Comm>* other) {
  *self = {table_of(table_of_comm), other->handle};
}
void comm_copy_base(Object<MPI_Comm>* self, const Object<MPI_Comm>* other) {
  comm_copy(self, other);
}
void datatype_free(Object<MPI_Datatype>* self) { PMPI_Type_free(&self->handle); }
void win_free(Object<MPI_Win>* self) { PMPI_Win_free(&self->handle); }
void file_close(Object<MPI_File>* self) { PMPI_File_close(&self->handle); }

Errhandler* comm_create_errhandler(Errhandler* result, Procedure* function) {
  return create_errhandler<MPI_Comm>(result, PMPI_Comm_create_errhandler, function);
}
Errhandler* win_create_errhandler(Errhandler* result, Procedure* function) {
  return create_errhandler<MPI_Win>(result, PMPI_Win_create_errhandler, function);
}
Errhandler* file_create_errhandler(Errhandler* result, Procedure* function) {
  return create_errhandler<MPI_File>(result, PMPI_File_create_errhandler, function);
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
