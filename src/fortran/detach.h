// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fortran/calls.h"

namespace fulmar::fortran {

/// MPI_*_detach_buffer for one width of the size.
template <class Size, class Call>
inline void detach(Call call, void** buffer_addr, Size* size, int* ierror) {
  void* address = nullptr;
  give(ierror, call(&address, size));
  if (buffer_addr != nullptr) *buffer_addr = address;
}

}  // namespace fulmar::fortran
