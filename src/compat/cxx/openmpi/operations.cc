// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <pthread.h>

#include <utility>

#include "compat/cxx/objects.h"

// MPI::Op::Init of Open MPI's header passes one function of this library to MPI_Op_create for all operations, and
// tells the operation's own function afterwards. In C an operation does not know which one it is, so MPI_Op_create and MPI_Op_free are
// taken over here, as a tool would: each operation of C++ has a C function of its own. Operations of C pass unchanged. At most 256
// operations of C++ exist at a time.

namespace {

using fulmar::compat::cxx::Object;
using fulmar::compat::cxx::table_of;

using UserFunction = void(const void* in, void* inout, int length,
                          const Object<MPI_Datatype>* datatype);

/// The header passes a function of this type as one of C.
UserFunction* user_function(MPI_User_function* function) {
  return reinterpret_cast<UserFunction*>(reinterpret_cast<void*>(function));
}

constexpr int most_operations = 256;

struct Operation {
  MPI_Op op;  // null: the place is free
  UserFunction* function;
};
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Operation operations[most_operations];  // places are taken and given back under `lock`
int last;                               // the place that was taken last

template <int place>
void call_operation(void* in, void* inout, int* length, MPI_Datatype* datatype) {
  const Object<MPI_Datatype> object = {table_of(table_of_datatype), *datatype};
  operations[place].function(in, inout, *length, &object);
}
template <int... place>
MPI_User_function* operation(int wanted, std::integer_sequence<int, place...> /*all*/) {
  static constexpr MPI_User_function* all[] = {call_operation<place>...};
  return all[wanted];
}

/// A place without an operation, -1 if there is none. Under `lock`. What was given back waits longest, as C may still use an
/// operation that has been freed.
int free_place() {
  for (int i = 1; i <= most_operations; ++i) {
    const int place = (last + i) % most_operations;
    if (operations[place].op == nullptr) return last = place;
  }
  return -1;
}

int create_operation(int commute, MPI_Op* op) {
  pthread_mutex_lock(&lock);
  const int place = free_place();
  int result = MPI_ERR_NO_MEM;
  if (place >= 0) {
    result = PMPI_Op_create(operation(place, std::make_integer_sequence<int, most_operations>()),
                            commute, op);
    if (result == MPI_SUCCESS) operations[place].op = *op;
  }
  pthread_mutex_unlock(&lock);
  if (place < 0) PMPI_Comm_call_errhandler(MPI_COMM_SELF, result);
  return result;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
extern "C" {
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* datatype,
                               MPI_User_function* function);
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* function);
}

/// Stands for the functions of C++ in MPI_Op_create; not called.
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* datatype,
                               MPI_User_function* function) {
  const Object<MPI_Datatype> object = {table_of(table_of_datatype), *datatype};
  user_function(function)(in, inout, *length, &object);
}

void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function* function) {
  pthread_mutex_lock(&lock);
  for (Operation& operation : operations) {
    if (operation.op == op) operation.function = user_function(function);
  }
  pthread_mutex_unlock(&lock);
}

int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  if (reinterpret_cast<void*>(function) != reinterpret_cast<void*>(ompi_mpi_cxx_op_intercept)) {
    return PMPI_Op_create(function, commute, op);
  }
  return create_operation(commute, op);
}

int MPI_Op_free(MPI_Op* op) {
  const MPI_Op freed = op != nullptr ? *op : nullptr;
  const int result = PMPI_Op_free(op);
  if (result != MPI_SUCCESS || freed == nullptr) return result;
  pthread_mutex_lock(&lock);
  for (Operation& operation : operations) {
    if (operation.op == freed) operation.op = nullptr;
  }
  pthread_mutex_unlock(&lock);
  return result;
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
