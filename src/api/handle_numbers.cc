// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/calls.h"
#include "base/engine_lock.h"
#include "runtime/library_access.h"

namespace fulmar::api {
namespace {

using mpi::ObjectKind;

int number_of(ObjectKind kind, std::uintptr_t handle) {
  mpi::Library& library = runtime::library();
  const base::EngineGuard guard(library.lock);
  return library.number_of(kind, handle);
}

template <class Handle>
int to_int(ObjectKind kind, Handle handle) {
  return number_of(kind, reinterpret_cast<std::uintptr_t>(handle));
}

template <class Handle>
Handle from_int(ObjectKind kind, int number, Handle null) {
  mpi::Library& library = runtime::library();
  const base::EngineGuard guard(library.lock);
  const std::uintptr_t handle = library.handle_of_number(kind, number);
  return handle == 0 ? null : reinterpret_cast<Handle>(handle);
}

}  // namespace

int comm_toint(MPI_Comm handle) { return to_int(ObjectKind::comm, handle); }
int errhandler_toint(MPI_Errhandler handle) { return to_int(ObjectKind::errhandler, handle); }
int file_toint(MPI_File handle) { return to_int(ObjectKind::file, handle); }
int group_toint(MPI_Group handle) { return to_int(ObjectKind::group, handle); }
int info_toint(MPI_Info handle) { return to_int(ObjectKind::info, handle); }
int message_toint(MPI_Message handle) { return to_int(ObjectKind::message, handle); }
int op_toint(MPI_Op handle) { return to_int(ObjectKind::op, handle); }
int request_toint(MPI_Request handle) { return to_int(ObjectKind::request, handle); }
int session_toint(MPI_Session handle) { return to_int(ObjectKind::session, handle); }
int type_toint(MPI_Datatype handle) { return to_int(ObjectKind::datatype, handle); }
int win_toint(MPI_Win handle) { return to_int(ObjectKind::win, handle); }

MPI_Comm comm_fromint(int number) { return from_int(ObjectKind::comm, number, MPI_COMM_NULL); }
MPI_Errhandler errhandler_fromint(int number) {
  return from_int(ObjectKind::errhandler, number, MPI_ERRHANDLER_NULL);
}
MPI_File file_fromint(int number) { return from_int(ObjectKind::file, number, MPI_FILE_NULL); }
MPI_Group group_fromint(int number) { return from_int(ObjectKind::group, number, MPI_GROUP_NULL); }
MPI_Info info_fromint(int number) { return from_int(ObjectKind::info, number, MPI_INFO_NULL); }
MPI_Message message_fromint(int number) {
  return from_int(ObjectKind::message, number, MPI_MESSAGE_NULL);
}
MPI_Op op_fromint(int number) { return from_int(ObjectKind::op, number, MPI_OP_NULL); }
MPI_Request request_fromint(int number) {
  return from_int(ObjectKind::request, number, MPI_REQUEST_NULL);
}
MPI_Session session_fromint(int number) {
  return from_int(ObjectKind::session, number, MPI_SESSION_NULL);
}
MPI_Datatype type_fromint(int number) {
  return from_int(ObjectKind::datatype, number, MPI_DATATYPE_NULL);
}
MPI_Win win_fromint(int number) { return from_int(ObjectKind::win, number, MPI_WIN_NULL); }

}  // namespace fulmar::api
