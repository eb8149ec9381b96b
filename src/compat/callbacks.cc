// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <new>
#include <utility>

#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/report.h"
#include "fortran/procedure_pool.h"

// Reductions and error handlers get no extra state in C, so there is a fixed number of functions that each call
// one function of the program. Generalized requests bring their state along.

namespace fulmar::compat {
namespace {

using fortran::ProcedurePool;

constexpr int most_operations = 256;
constexpr int most_errhandlers = 64;

template <class Count>
ProcedurePool<most_operations> operations;

template <class Count>
using Operation = void(void* in, void* inout, Count* length, Foreign<MPI_Datatype>* datatype);
template <class Count>
using StandardOperation = void(void* in, void* inout, Count* length, MPI_Datatype* datatype);

template <class Count, int place>
void call_operation(void* in, void* inout, Count* length, MPI_Datatype* datatype) {
  Foreign<MPI_Datatype> type = out(*datatype);
  reinterpret_cast<Operation<Count>*>(operations<Count>.get(place))(in, inout, length, &type);
}

template <class Count, int... place>
StandardOperation<Count>* operation(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr StandardOperation<Count>* all[] = {call_operation<Count, place>...};
  return all[wanted];
}

template <class Count, class Create>
int create_operation(Create create, Procedure* function, int commute, Foreign<MPI_Op>* op) {
  if (function == nullptr) return code_out(create(nullptr, commute, HandleOut<MPI_Op>(op)));
  const int place = operations<Count>.place_of(function);
  if (place < 0) return report(Problem::too_many_operations);
  return code_out(
      create(operation<Count>(place, std::make_integer_sequence<int, most_operations>()), commute,
             HandleOut<MPI_Op>(op)));
}

template <class Handle>
ProcedurePool<most_errhandlers> errhandlers;

template <class Handle, int place>
void call_errhandler(Handle* object, int* code, ...) {
  using Function = void(Foreign<Handle>*, int*, ...);
  Foreign<Handle> foreign_object = out(*object);
  int number = code_out(*code);
  reinterpret_cast<Function*>(errhandlers<Handle>.get(place))(&foreign_object, &number);
}

template <class Handle, int... place>
auto errhandler_function(int wanted, std::integer_sequence<int, place...> /*all*/) {
  using Function = void(Handle*, int*, ...);
  static constexpr Function* all[] = {call_errhandler<Handle, place>...};
  return all[wanted];
}

template <class Handle, class Create>
int create_errhandler(Create create, Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  if (function == nullptr) return code_out(create(nullptr, HandleOut<MPI_Errhandler>(errhandler)));
  const int place = errhandlers<Handle>.place_of(function);
  if (place < 0) return report(Problem::too_many_errhandlers);
  return code_out(create(
      errhandler_function<Handle>(place, std::make_integer_sequence<int, most_errhandlers>()),
      HandleOut<MPI_Errhandler>(errhandler)));
}

/// The functions of a generalized request, and what they get.
struct Grequest {
  using Query = int(void* extra_state, ForeignStatus* status);
  using Free = int(void* extra_state);
  using Cancel = int(void* extra_state, int complete);
  Query* query;
  Free* free;
  Cancel* cancel;
  void* extra_state;
};

int query_grequest(void* state, MPI_Status* status) {
  const auto& grequest = *static_cast<Grequest*>(state);
  ForeignStatus foreign_status{};
  foreign_status.MPI_ERROR = untouched;
  const int before = status->MPI_ERROR;
  const int result = grequest.query(grequest.extra_state, &foreign_status);
  load_status(foreign_status, *status);
  if (foreign_status.MPI_ERROR == untouched) status->MPI_ERROR = before;
  return code_in(result);
}

int free_grequest(void* state) {
  auto* grequest = static_cast<Grequest*>(state);
  const int result = grequest->free(grequest->extra_state);
  std::free(grequest);
  return code_in(result);
}

int cancel_grequest(void* state, int complete) {
  const auto& grequest = *static_cast<Grequest*>(state);
  return code_in(grequest.cancel(grequest.extra_state, complete));
}

}  // namespace

int op_create(Procedure* function, int commute, Foreign<MPI_Op>* op) {
  return create_operation<int>(functions.Op_create, function, commute, op);
}
int op_create_c(Procedure* function, int commute, Foreign<MPI_Op>* op) {
  return create_operation<MPI_Count>(functions.Op_create_c, function, commute, op);
}

int comm_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  return create_errhandler<MPI_Comm>(functions.Comm_create_errhandler, function, errhandler);
}
int file_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  return create_errhandler<MPI_File>(functions.File_create_errhandler, function, errhandler);
}
int session_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  return create_errhandler<MPI_Session>(functions.Session_create_errhandler, function, errhandler);
}
int win_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  return create_errhandler<MPI_Win>(functions.Win_create_errhandler, function, errhandler);
}

int grequest_start(Procedure* query, Procedure* free, Procedure* cancel, void* extra_state,
                   Foreign<MPI_Request>* request) {
  if (query == nullptr || free == nullptr || cancel == nullptr) {
    return code_out(functions.Grequest_start(nullptr, nullptr, nullptr, nullptr,
                                             HandleOut<MPI_Request>(request)));
  }
  void* memory = std::malloc(sizeof(Grequest));
  if (memory == nullptr) return report(Problem::no_memory);
  auto* state = new (memory)
      Grequest{reinterpret_cast<Grequest::Query*>(query), reinterpret_cast<Grequest::Free*>(free),
               reinterpret_cast<Grequest::Cancel*>(cancel), extra_state};
  const int result = functions.Grequest_start(query_grequest, free_grequest, cancel_grequest, state,
                                              HandleOut<MPI_Request>(request));
  if (result != MPI_SUCCESS) std::free(memory);
  return code_out(result);
}

}  // namespace fulmar::compat
