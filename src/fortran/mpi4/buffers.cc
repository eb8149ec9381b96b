// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/detach.h"
#include "fortran/handles.h"

// Buffers of large sizes, of communicators and of sessions.

namespace fulmar::fortran {

void buffer_detach_c_f08(void** buffer_addr, MPI_Count* size, int* ierror) {
  detach(PMPI_Buffer_detach_c, buffer_addr, size, ierror);
}

void comm_detach_buffer_f08(const int* comm, void** buffer_addr, int* size, int* ierror) {
  const auto call = [comm](void* address, int* bytes) {
    return PMPI_Comm_detach_buffer(handle<MPI_Comm>(*comm), address, bytes);
  };
  detach(call, buffer_addr, size, ierror);
}
void comm_detach_buffer_c_f08(const int* comm, void** buffer_addr, MPI_Count* size, int* ierror) {
  const auto call = [comm](void* address, MPI_Count* bytes) {
    return PMPI_Comm_detach_buffer_c(handle<MPI_Comm>(*comm), address, bytes);
  };
  detach(call, buffer_addr, size, ierror);
}
void comm_detach_buffer(const int* comm, void* /*buffer_addr*/, int* size, int* ierror) {
  comm_detach_buffer_f08(comm, nullptr, size, ierror);
}

void session_detach_buffer_f08(const int* session, void** buffer_addr, int* size, int* ierror) {
  const auto call = [session](void* address, int* bytes) {
    return PMPI_Session_detach_buffer(handle<MPI_Session>(*session), address, bytes);
  };
  detach(call, buffer_addr, size, ierror);
}
void session_detach_buffer_c_f08(const int* session, void** buffer_addr, MPI_Count* size,
                                 int* ierror) {
  const auto call = [session](void* address, MPI_Count* bytes) {
    return PMPI_Session_detach_buffer_c(handle<MPI_Session>(*session), address, bytes);
  };
  detach(call, buffer_addr, size, ierror);
}
void session_detach_buffer(const int* session, void* /*buffer_addr*/, int* size, int* ierror) {
  session_detach_buffer_f08(session, nullptr, size, ierror);
}

}  // namespace fulmar::fortran
