// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <initializer_list>
#include <new>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/report.h"
#include "fortran/strings.h"

// MPI_Register_datarep (MPI 5.0 section 14.5.3). A data representation cannot be removed, so what its
// functions need stays as long as the process.

#undef MPI_CONVERSION_FN_NULL
#undef MPI_CONVERSION_FN_NULL_C

// Generated: MPI_CONVERSION_FN_NULL, under the names that compilers give it.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" void mpi_conversion_fn_null_();
extern "C" void mpi_conversion_fn_null__();
extern "C" void mpi_conversion_fn_null();
extern "C" void MPI_CONVERSION_FN_NULL();
extern "C" void mpi_conversion_fn_null_c_();
extern "C" void mpi_conversion_fn_null_c__();
extern "C" void mpi_conversion_fn_null_c();
extern "C" void MPI_CONVERSION_FN_NULL_C();
// NOLINTEND(readability-identifier-naming)

namespace fulmar::fortran {
namespace {

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

bool is_null_conversion(Procedure* function) {
  for (Procedure* name :
       {mpi_conversion_fn_null_, mpi_conversion_fn_null__, mpi_conversion_fn_null,
        MPI_CONVERSION_FN_NULL, mpi_conversion_fn_null_c_, mpi_conversion_fn_null_c__,
        mpi_conversion_fn_null_c, MPI_CONVERSION_FN_NULL_C}) {
    if (function == name) return true;
  }
  return false;
}

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

int file_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
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

}  // namespace

void register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                      const MPI_Aint* extra, int* ierror, std::size_t datarep_length) {
  give(ierror, register_functions<int>(PMPI_Register_datarep, datarep, datarep_length,
                                       {read, write, extent, *extra}));
}

void register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                        const MPI_Aint* extra, int* ierror, std::size_t datarep_length) {
  give(ierror, register_functions<MPI_Count>(PMPI_Register_datarep_c, datarep, datarep_length,
                                             {read, write, extent, *extra}));
}

}  // namespace fulmar::fortran
