// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/arguments.h"
#include "compat/calls.h"

// What MPI 3.0 removed. MPI_Type_struct with its bounds is that of fulmar/mpi_removed.h, over our library's
// functions: names that would end in this library are made to mean those while it is read.

#define MPI_Type_create_struct fulmar::compat::functions.Type_create_struct
#define MPI_Type_create_resized fulmar::compat::functions.Type_create_resized
#define MPI_Type_create_hvector fulmar::compat::functions.Type_create_hvector
#define MPI_Type_create_hindexed fulmar::compat::functions.Type_create_hindexed
#define MPI_Type_get_extent fulmar::compat::functions.Type_get_extent
#define MPI_Type_free fulmar::compat::functions.Type_free
#define MPI_Get_address fulmar::compat::functions.Get_address
#define MPI_Comm_create_errhandler fulmar::compat::functions.Comm_create_errhandler
#define MPI_Comm_get_errhandler fulmar::compat::functions.Comm_get_errhandler
#define MPI_Comm_set_errhandler fulmar::compat::functions.Comm_set_errhandler
#include <fulmar/mpi_removed.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fulmar::compat {

int address(const void* location, MPI_Aint* address) {
  return code_out(functions.Get_address(location, address));
}

int type_extent(Foreign<MPI_Datatype> datatype, MPI_Aint* extent) {
  return code_out(::MPI_Type_extent(in<MPI_Datatype>(datatype), extent));
}
int type_lb(Foreign<MPI_Datatype> datatype, MPI_Aint* displacement) {
  return code_out(::MPI_Type_lb(in<MPI_Datatype>(datatype), displacement));
}
int type_ub(Foreign<MPI_Datatype> datatype, MPI_Aint* displacement) {
  return code_out(::MPI_Type_ub(in<MPI_Datatype>(datatype), displacement));
}

int type_hvector(int count, int blocklength, MPI_Aint stride, Foreign<MPI_Datatype> oldtype,
                 Foreign<MPI_Datatype>* newtype) {
  return code_out(functions.Type_create_hvector(
      count, blocklength, stride, in<MPI_Datatype>(oldtype), HandleOut<MPI_Datatype>(newtype)));
}

int type_hindexed(int count, const int* blocklengths, const MPI_Aint* displacements,
                  Foreign<MPI_Datatype> oldtype, Foreign<MPI_Datatype>* newtype) {
  return code_out(functions.Type_create_hindexed(count, blocklengths, displacements,
                                                 in<MPI_Datatype>(oldtype),
                                                 HandleOut<MPI_Datatype>(newtype)));
}

int type_struct(int count, const int* blocklengths, const MPI_Aint* displacements,
                const Foreign<MPI_Datatype>* types, Foreign<MPI_Datatype>* newtype) {
  return code_out(::MPI_Type_struct(count, blocklengths, displacements,
                                    HandleArrayIn<MPI_Datatype>(types, count),
                                    HandleOut<MPI_Datatype>(newtype)));
}

int errhandler_create(Procedure* function, Foreign<MPI_Errhandler>* errhandler) {
  return comm_create_errhandler(function, errhandler);
}
int errhandler_get(Foreign<MPI_Comm> comm, Foreign<MPI_Errhandler>* errhandler) {
  return code_out(
      functions.Comm_get_errhandler(in<MPI_Comm>(comm), HandleOut<MPI_Errhandler>(errhandler)));
}
int errhandler_set(Foreign<MPI_Comm> comm, Foreign<MPI_Errhandler> errhandler) {
  return code_out(
      functions.Comm_set_errhandler(in<MPI_Comm>(comm), in<MPI_Errhandler>(errhandler)));
}

}  // namespace fulmar::compat
