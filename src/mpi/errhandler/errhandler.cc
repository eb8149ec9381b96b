// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/errhandler/errhandler.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

template <class Handle>
std::uintptr_t constant(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

/// The kind of object that a handler with this action fits; nullptr where it fits all.
const char* made_for(ErrorAction action) {
  switch (action) {
    case ErrorAction::call_comm:
      return "communicators";
    case ErrorAction::call_win:
      return "windows";
    case ErrorAction::call_file:
      return "files";
    case ErrorAction::call_session:
      return "sessions";
    default:
      return nullptr;
  }
}

bool fits(ErrorAction action, ObjectKind kind) {
  switch (action) {
    case ErrorAction::call_comm:
      return kind == ObjectKind::comm;
    case ErrorAction::call_win:
      return kind == ObjectKind::win;
    case ErrorAction::call_file:
      return kind == ObjectKind::file;
    case ErrorAction::call_session:
      return kind == ObjectKind::session;
    default:
      return true;
  }
}

}  // namespace

ErrorState::ErrorState(Library& library, JobAborter job_aborter) noexcept
    : aborter(job_aborter), library_(library) {
  library.define(fatal, constant(MPI_ERRORS_ARE_FATAL));
  library.define(aborting, constant(MPI_ERRORS_ABORT));
  library.define(returning, constant(MPI_ERRORS_RETURN));
  new_files.handle = constant(MPI_FILE_NULL);
  new_files.predefined = true;
  new_files.name = "MPI_FILE_NULL";
  new_files.errhandler = &returning;
  new_comms.handle = constant(MPI_COMM_NULL);
  new_sessions.handle = constant(MPI_SESSION_NULL);
  library.errors = this;
}

ErrorState::~ErrorState() {
  drop_errhandler(library_, new_files);
  drop_errhandler(library_, new_comms);
  drop_errhandler(library_, new_sessions);
  for (const Errhandler* handler : {&fatal, &aborting, &returning})
    library_.undefine(handler->handle);
  library_.errors = nullptr;
}

Error set_errhandler(Library& library, ErrorHolder& holder, Errhandler& handler) {
  if (!fits(handler.action, holder.kind)) {
    return base::failure(ErrorClass::errhandler,
                         "argument errhandler: this error handler was made for %s only",
                         made_for(handler.action));
  }
  library.acquire(handler);
  drop_errhandler(library, holder);
  holder.errhandler = &handler;
  return {};
}

Errhandler& errhandler_of(const Library& library, const ErrorHolder& holder) noexcept {
  return holder.errhandler != nullptr ? *holder.errhandler : library.errors->fatal;
}

void drop_errhandler(Library& library, ErrorHolder& holder) noexcept {
  if (holder.errhandler == nullptr) return;
  library.release(*holder.errhandler);
  holder.errhandler = nullptr;
}

}  // namespace fulmar::mpi
