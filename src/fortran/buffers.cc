// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/detach.h"

namespace fulmar::fortran {

void buffer_detach(void* /*buffer_addr*/, int* size, int* ierror) {
  detach(PMPI_Buffer_detach, nullptr, size, ierror);
}
void buffer_detach_f08(void** buffer_addr, int* size, int* ierror) {
  detach(PMPI_Buffer_detach, buffer_addr, size, ierror);
}

}  // namespace fulmar::fortran
