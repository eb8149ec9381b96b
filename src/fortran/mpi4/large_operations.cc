// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <utility>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/procedure_pool.h"
#include "fortran/report.h"

// MPI_Op_create_c: as in callbacks.cc, with counts of MPI_COUNT_KIND.

namespace fulmar::fortran {
namespace {

constexpr int most_operations = 256;

ProcedurePool<most_operations> large_operations;

template <int place>
void call_large_operation(void* in, void* inout, MPI_Count* length, MPI_Datatype* datatype) {
  using Function = void(void*, void*, MPI_Count*, int*);
  int type = number(*datatype);
  reinterpret_cast<Function*>(large_operations.get(place))(in, inout, length, &type);
}

template <int... place>
MPI_User_function_c* large_operation(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_User_function_c* functions[] = {call_large_operation<place>...};
  return functions[wanted];
}

}  // namespace

void op_create_c(Procedure* function, const int* commute, int* op, int* ierror) {
  const int place = large_operations.place_of(function);
  if (place < 0) return give(ierror, report(Problem::too_many_operations));
  HandleResult<MPI_Op> made(op);
  give(ierror,
       PMPI_Op_create_c(large_operation(place, std::make_integer_sequence<int, most_operations>()),
                        logical(*commute), made.get()));
  made.store();
}

}  // namespace fulmar::fortran
