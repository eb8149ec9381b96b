// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cxx_classes.h>  // generated from spec/cxx_mpich.table

#pragma GCC visibility push(default)
namespace MPI {

/// What MPI::ERRORS_THROW_EXCEPTIONS throws. Laid out as in MPICH's header, whose functions programs contain: they write the
/// text of the error into the object.
class Exception {
 public:
  explicit Exception(int code) : code_(code) {}
  virtual ~Exception() {}
  int Get_error_code() { return code_; }

 protected:
  int code_;
  char text_[MPI_MAX_ERROR_STRING] = {};
};

using DatarepConversion = int(void* buffer, Datatype& datatype, int count, void* file_buffer,
                              Offset position, void* extra_state);
/// Of Intel MPI, whose MPI_Offset is `long long`.
using DatarepConversionOfIntel = int(void* buffer, Datatype& datatype, int count, void* file_buffer,
                                     long long position, void* extra_state);
using DatarepExtent = int(const Datatype& datatype, Aint& extent, void* extra_state);
void Register_datarep(const char* datarep, DatarepConversion* read, DatarepConversion* write,
                      DatarepExtent* extent, void* extra_state);
void Register_datarep(const char* datarep, DatarepConversionOfIntel* read,
                      DatarepConversionOfIntel* write, DatarepExtent* extent, void* extra_state);

}  // namespace MPI
#pragma GCC visibility pop
