// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <new>
#include <utility>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/procedure_pool.h"
#include "fortran/report.h"

// Reductions and error handlers get no extra state in C, so there is a fixed number of C functions that each
// call one procedure of Fortran. Generalized requests bring their state along.

namespace fulmar::fortran {
namespace {

constexpr int most_operations = 256;
constexpr int most_errhandlers = 64;

ProcedurePool<most_operations> operations;

template <int place>
void call_operation(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  using Function = void(void*, void*, int*, int*);
  int type = number(*datatype);
  reinterpret_cast<Function*>(operations.get(place))(in, inout, length, &type);
}

template <class Handle>
ProcedurePool<most_errhandlers> errhandlers;

template <class Handle, int place>
void call_errhandler(Handle* object, int* code, ...) {
  using Function = void(int*, int*);
  int object_number = number(*object);
  reinterpret_cast<Function*>(errhandlers<Handle>.get(place))(&object_number, code);
}

template <int... place>
MPI_User_function* operation(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_User_function* functions[] = {call_operation<place>...};
  return functions[wanted];
}

template <class Handle, int... place>
auto errhandler_function(int wanted, std::integer_sequence<int, place...> /*all*/) {
  using Function = void(Handle*, int*, ...);
  static constexpr Function* functions[] = {call_errhandler<Handle, place>...};
  return functions[wanted];
}

template <class Handle, class Create>
void create_errhandler(Create create, Procedure* function, int* errhandler, int* ierror) {
  const int place = errhandlers<Handle>.place_of(function);
  if (place < 0) return give(ierror, report(Problem::too_many_errhandlers));
  HandleResult<MPI_Errhandler> made(errhandler);
  give(ierror, create(errhandler_function<Handle>(
                          place, std::make_integer_sequence<int, most_errhandlers>()),
                      made.get()));
  made.store();
}

/// The procedures of a generalized request, and what Fortran wants to see with them.
struct Grequest {
  using Query = void(MPI_Aint* extra, int* status, int* ierror);
  using Free = void(MPI_Aint* extra, int* ierror);
  using Cancel = void(MPI_Aint* extra, int* complete, int* ierror);
  Procedure* query;
  Procedure* free;
  Procedure* cancel;
  MPI_Aint extra;
};

int query_grequest(void* state, MPI_Status* status) {
  auto& grequest = *static_cast<Grequest*>(state);
  int ierror = MPI_SUCCESS;
  reinterpret_cast<Grequest::Query*>(grequest.query)(&grequest.extra,
                                                     reinterpret_cast<int*>(status), &ierror);
  return ierror;
}

int free_grequest(void* state) {
  auto* grequest = static_cast<Grequest*>(state);
  int ierror = MPI_SUCCESS;
  reinterpret_cast<Grequest::Free*>(grequest->free)(&grequest->extra, &ierror);
  std::free(grequest);
  return ierror;
}

int cancel_grequest(void* state, int complete) {
  auto& grequest = *static_cast<Grequest*>(state);
  int ierror = MPI_SUCCESS;
  int done = logical(complete);
  reinterpret_cast<Grequest::Cancel*>(grequest.cancel)(&grequest.extra, &done, &ierror);
  return ierror;
}

}  // namespace

void op_create(Procedure* function, const int* commute, int* op, int* ierror) {
  const int place = operations.place_of(function);
  if (place < 0) return give(ierror, report(Problem::too_many_operations));
  HandleResult<MPI_Op> made(op);
  give(ierror, PMPI_Op_create(operation(place, std::make_integer_sequence<int, most_operations>()),
                              logical(*commute), made.get()));
  made.store();
}

void comm_create_errhandler(Procedure* function, int* errhandler, int* ierror) {
  create_errhandler<MPI_Comm>(PMPI_Comm_create_errhandler, function, errhandler, ierror);
}
void file_create_errhandler(Procedure* function, int* errhandler, int* ierror) {
  create_errhandler<MPI_File>(PMPI_File_create_errhandler, function, errhandler, ierror);
}
void session_create_errhandler(Procedure* function, int* errhandler, int* ierror) {
  create_errhandler<MPI_Session>(PMPI_Session_create_errhandler, function, errhandler, ierror);
}
void win_create_errhandler(Procedure* function, int* errhandler, int* ierror) {
  create_errhandler<MPI_Win>(PMPI_Win_create_errhandler, function, errhandler, ierror);
}

void grequest_start(Procedure* query, Procedure* free, Procedure* cancel, const MPI_Aint* extra,
                    int* request, int* ierror) {
  void* memory = std::malloc(sizeof(Grequest));
  if (memory == nullptr) return give(ierror, report(Problem::no_memory));
  auto* state = new (memory) Grequest{query, free, cancel, *extra};
  HandleResult<MPI_Request> made(request);
  const int result =
      PMPI_Grequest_start(query_grequest, free_grequest, cancel_grequest, state, made.get());
  if (result != MPI_SUCCESS) std::free(memory);
  made.store();
  give(ierror, result);
}

}  // namespace fulmar::fortran
