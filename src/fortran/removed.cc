// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The procedures that MPI 3.0 removed (MPI 5.0 chapter 17) for mpif.h and programs of its time. Addresses are
// default INTEGERs there; what does not fit one is an error, never a shorter number.

#include <removed_names.h>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/report.h"
#include "fortran/sentinels.h"
#include "fortran/small_array.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fulmar::fortran {
namespace {

/// Stores an address or extent where it fits an INTEGER; an error, which it reports, where not.
int narrow(int error, MPI_Aint value, int* place) {
  if (error != MPI_SUCCESS) return error;
  *place = static_cast<int>(value);
  return *place == value ? MPI_SUCCESS : report(Problem::address_too_large);
}

/// Displacements in bytes, as C wants them.
class Displacements {
 public:
  Displacements(const int* values, int count) : wide_(count) {
    for (MPI_Count i = 0; i < wide_.size(); ++i) wide_[i] = values[i];
  }
  [[nodiscard]] bool failed() const { return wide_.failed(); }
  [[nodiscard]] const MPI_Aint* get() { return wide_.data(); }

 private:
  SmallArray<MPI_Aint, 16> wide_;
};

}  // namespace

void address(const void* location, int* address, int* ierror) {
  MPI_Aint value = 0;
  const int error = MPI_Address(buffer_address(location), &value);
  give(ierror, narrow(error, value, address));
}

void errhandler_create(Procedure* function, int* errhandler, int* ierror) {
  comm_create_errhandler(function, errhandler, ierror);
}
void errhandler_set(const int* comm, const int* errhandler, int* ierror) {
  give(ierror, MPI_Errhandler_set(handle<MPI_Comm>(*comm), handle<MPI_Errhandler>(*errhandler)));
}
void errhandler_get(const int* comm, int* errhandler, int* ierror) {
  HandleResult<MPI_Errhandler> result(errhandler);
  const int error = MPI_Errhandler_get(handle<MPI_Comm>(*comm), result.get());
  if (error == MPI_SUCCESS) result.store();
  give(ierror, error);
}

void type_extent(const int* datatype, int* extent, int* ierror) {
  MPI_Aint value = 0;
  const int error = MPI_Type_extent(handle<MPI_Datatype>(*datatype), &value);
  give(ierror, narrow(error, value, extent));
}
void type_lb(const int* datatype, int* displacement, int* ierror) {
  MPI_Aint value = 0;
  const int error = MPI_Type_lb(handle<MPI_Datatype>(*datatype), &value);
  give(ierror, narrow(error, value, displacement));
}
void type_ub(const int* datatype, int* displacement, int* ierror) {
  MPI_Aint value = 0;
  const int error = MPI_Type_ub(handle<MPI_Datatype>(*datatype), &value);
  give(ierror, narrow(error, value, displacement));
}

void type_hvector(const int* count, const int* blocklength, const int* stride, const int* oldtype,
                  int* newtype, int* ierror) {
  HandleResult<MPI_Datatype> result(newtype);
  const int error =
      MPI_Type_hvector(*count, *blocklength, *stride, handle<MPI_Datatype>(*oldtype), result.get());
  if (error == MPI_SUCCESS) result.store();
  give(ierror, error);
}
void type_hindexed(const int* count, const int* blocklengths, const int* displacements,
                   const int* oldtype, int* newtype, int* ierror) {
  Displacements wide(displacements, *count);
  if (wide.failed()) return give(ierror, report(Problem::no_memory));
  HandleResult<MPI_Datatype> result(newtype);
  const int error = MPI_Type_hindexed(*count, blocklengths, wide.get(),
                                      handle<MPI_Datatype>(*oldtype), result.get());
  if (error == MPI_SUCCESS) result.store();
  give(ierror, error);
}
void type_struct(const int* count, const int* blocklengths, const int* displacements,
                 const int* types, int* newtype, int* ierror) {
  Displacements wide(displacements, *count);
  HandleArray<MPI_Datatype> handles(types, *count);
  if (wide.failed() || handles.failed()) return give(ierror, report(Problem::no_memory));
  HandleResult<MPI_Datatype> result(newtype);
  const int error = MPI_Type_struct(*count, blocklengths, wide.get(), handles.get(), result.get());
  if (error == MPI_SUCCESS) result.store();
  give(ierror, error);
}

}  // namespace fulmar::fortran
