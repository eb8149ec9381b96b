// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <new>

#include "compat/calls.h"
#include "compat/report.h"

// MPI_Register_datarep (MPI 5.0 section 14.5.3). A data representation cannot be removed, so what its functions
// need stays as long as the process.

namespace fulmar::compat {
namespace {

template <class Count>
using Conversion = int(void* userbuf, Foreign<MPI_Datatype> datatype, Count count, void* filebuf,
                       MPI_Offset position, void* extra_state);
using Extent = int(Foreign<MPI_Datatype> datatype, MPI_Aint* extent, void* extra_state);

struct Datarep {
  Procedure* read;
  Procedure* write;
  Procedure* extent;
  void* extra_state;
};

template <class Count, Procedure* Datarep::* function>
int convert(void* userbuf, MPI_Datatype datatype, Count count, void* filebuf, MPI_Offset position,
            void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return code_in(reinterpret_cast<Conversion<Count>*>(datarep.*function)(
      userbuf, out(datatype), count, filebuf, position, datarep.extra_state));
}

int extent_of(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return code_in(
      reinterpret_cast<Extent*>(datarep.extent)(out(datatype), extent, datarep.extra_state));
}

/// A null conversion function means that there is nothing to convert, in all ABIs.
template <class Count, class Register>
int register_functions(Register enter, const char* name, const Datarep& datarep) {
  void* memory = std::malloc(sizeof(Datarep));
  if (memory == nullptr) return report(Problem::no_memory);
  auto* state = new (memory) Datarep(datarep);
  const int result = enter(name, datarep.read != nullptr ? convert<Count, &Datarep::read> : nullptr,
                           datarep.write != nullptr ? convert<Count, &Datarep::write> : nullptr,
                           datarep.extent != nullptr ? extent_of : nullptr, state);
  if (result != MPI_SUCCESS) std::free(memory);
  return code_out(result);
}

}  // namespace

int register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                     void* extra_state) {
  return register_functions<int>(functions.Register_datarep, datarep,
                                 {read, write, extent, extra_state});
}
int register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                       void* extra_state) {
  return register_functions<MPI_Count>(functions.Register_datarep_c, datarep,
                                       {read, write, extent, extra_state});
}

}  // namespace fulmar::compat
