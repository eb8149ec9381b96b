// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdlib>
#include <new>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/report.h"
#include "fortran/strings.h"

// MPI_Register_datarep for one width of counts (MPI 5.0 section 14.5.3). A data representation cannot be removed,
// so what its functions need stays as long as the process.

namespace fulmar::fortran {

template <class Count>
using Conversion = void(void* userbuf, int* datatype, Count* count, void* filebuf,
                        MPI_Offset* position, MPI_Aint* extra, int* ierror);
using Extent = void(int* datatype, MPI_Aint* extent, MPI_Aint* extra, int* ierror);

struct Datarep {
  Procedure* read;
  Procedure* write;
  Procedure* extent;
  MPI_Aint extra;
};

/// Whether Fortran passed MPI_CONVERSION_FN_NULL or its large form (datarep.cc).
[[nodiscard]] bool is_null_conversion(Procedure* function);

template <class Count>
int convert(Procedure* function, Datarep& datarep, void* userbuf, MPI_Datatype datatype,
            Count count, void* filebuf, MPI_Offset position) {
  int type = number(datatype);
  int ierror = MPI_SUCCESS;
  reinterpret_cast<Conversion<Count>*>(function)(userbuf, &type, &count, filebuf, &position,
                                                 &datarep.extra, &ierror);
  return ierror;
}

template <class Count>
int read_file(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position,
              void* state) {
  auto& datarep = *static_cast<Datarep*>(state);
  return convert(datarep.read, datarep, userbuf, datatype, count, filebuf, position);
}

template <class Count>
int write_file(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf,
               MPI_Offset position, void* state) {
  auto& datarep = *static_cast<Datarep*>(state);
  return convert(datarep.write, datarep, userbuf, datatype, count, filebuf, position);
}

inline int file_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  auto& datarep = *static_cast<Datarep*>(state);
  int type = number(datatype);
  int ierror = MPI_SUCCESS;
  reinterpret_cast<Extent*>(datarep.extent)(&type, extent, &datarep.extra, &ierror);
  return ierror;
}

template <class Count, class Register>
int register_functions(Register call, const char* name, std::size_t length,
                       const Datarep& functions) {
  InString c_name(name, length, Trim::trailing);
  void* memory = std::malloc(sizeof(Datarep));
  if (c_name.failed() || memory == nullptr) {
    std::free(memory);
    return report(Problem::no_memory);
  }
  auto* state = new (memory) Datarep(functions);
  const int result =
      call(c_name.get(), is_null_conversion(state->read) ? nullptr : read_file<Count>,
           is_null_conversion(state->write) ? nullptr : write_file<Count>, file_extent, state);
  if (result != MPI_SUCCESS) std::free(memory);
  return result;
}

}  // namespace fulmar::fortran
