// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <array>
#include <mutex>
#include <string_view>

#include "mpi/info/info.h"
#include "mpi/p2p/buffered.h"
#include "mpi/rma/last_use.h"
#include "mpi/session/session.h"
#include "runtime/calls.h"
#include "runtime/init_lock.h"
#include "runtime/process.h"

/// Sessions begin and end here, because they initialise and finalize MPI.
namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;

struct Level {
  std::string_view name;
  int value;
};
constexpr std::array<Level, 4> levels = {Level{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
                                         {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
                                         {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
                                         {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/// The value of the key thread_level (MPI 5.0 section 11.3.1); without it, the highest level of
/// this library. MPI_ERR_INFO_VALUE for an unknown level.
base::Result<int> level_of(const mpi::Info* info) {
  const std::string* asked = info == nullptr ? nullptr : info->find("thread_level");
  if (asked == nullptr) return MPI_THREAD_MULTIPLE;
  for (const auto& [name, value] : levels) {
    if (name == *asked) return value;
  }
  return base::failure(ErrorClass::info_value,
                       "argument info: thread_level is \"%s\"; it must be MPI_THREAD_SINGLE, "
                       "MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
                       asked->c_str());
}

}  // namespace

Error session_init(mpi::Library& library, mpi::Info* info, mpi::Errhandler& errhandler,
                   MPI_Session& out) {
  const std::lock_guard guard(init_lock());
  Process& process = runtime::process();
  {
    const base::EngineGuard lock(library.lock);
    const Error error = set_errhandler(library, library.errors->new_sessions, errhandler);
    if (error.failed()) return error;
  }
  const base::Result<int> level = level_of(info);
  if (level.failed()) return level.error();
  if (const Error error = process.enter(level.value()); error.failed()) return error;
  Error error;
  {
    const base::EngineGuard lock(library.lock);
    auto* session = library.make<mpi::Session>(level.value());
    if (session == nullptr) {
      error = base::failure(ErrorClass::no_mem, "no memory for another session");
    } else if (error = set_errhandler(library, *session, errhandler); error.failed()) {
      library.retire(*session);
    } else {
      out = mpi::handle_cast<MPI_Session>(*session);
    }
  }
  if (error.failed()) process.leave();
  return error;
}

Error session_finalize(mpi::Handle<mpi::Session> session) {
  Process& process = runtime::process();
  mpi::Library& library = process.library();
  {
    const base::EngineGuard lock(library.lock);
    const auto* object = library.find<mpi::Session>(*session.where);
    if (object != nullptr) mpi::await_other_users(library, object->handle);
  }
  const std::lock_guard guard(init_lock());
  {
    const base::EngineGuard lock(library.lock);
    // Since the handle was checked, another thread may have been faster.
    auto* object = library.find<mpi::Session>(*session.where);
    if (object == nullptr) {
      return base::failure(ErrorClass::session,
                           "argument session: another thread has finalized it meanwhile; finalize "
                           "a session once");
    }
    const std::uintptr_t handle = object->handle;
    mpi::flush_buffer(mpi::session_buffer(library, handle));
    mpi::drop_send_buffer(mpi::session_buffer(library, handle));
    drop_errhandler(library, *object);
    library.retire(*object);
    *session.where = MPI_SESSION_NULL;
  }
  process.leave();
  return {};
}

}  // namespace fulmar::runtime
