// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/library_state.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/engine_lock.h"
#include "mpi/comm/world.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/errhandler/raise.h"
#include "mpi/errhandler/user_function.h"

namespace fulmar::api {
namespace {

/// Programs often ignore the result of a call, and continue as if it had succeeded.
void report_missing(mpi::Library& library, const char* call) {
  mpi::ErrorState& state = *library.errors;
  std::vector<const char*>& reported = state.reported_calls;
  if (std::ranges::find(reported, call) != reported.end()) return;
  reported.push_back(call);
  std::string who;
  if (state.rank >= 0) {
    who = "rank " + std::to_string(state.rank) + " of " + std::to_string(state.size) + ": ";
  }
  std::fprintf(stderr,
               "fulmar: %s%s does not work yet in this version of Fulmar and has returned "
               "MPI_ERR_UNSUPPORTED_OPERATION; `fulmar info --api` lists what works\n",
               who.c_str(), call);
}

/// `holder` with the error handler that the user has named; nullptr where that does not fit.
mpi::Object* target_with(mpi::Library& library, mpi::ErrorHolder& holder, MPI_Errhandler handler) {
  const base::EngineGuard guard(library.lock);  // MPI_Session_init runs without it
  auto* found = library.find<mpi::Errhandler>(handler);
  const bool fits = found != nullptr && mpi::set_errhandler(library, holder, *found).ok();
  return fits ? &holder : nullptr;
}

}  // namespace

mpi::Library* traced_library() noexcept {
  mpi::Library& library = runtime::library();
  const bool goes_aside =
      library.trace.load(std::memory_order_acquire) != nullptr || library.checks_types;
  return goes_aside ? &library : nullptr;
}

void start_window_thread() noexcept {
  mpi::Library& library = runtime::library();
  {
    const base::EngineGuard guard(library.lock);
    if (library.world == nullptr || !library.world->window_thread.wanted) [[likely]]
      return;
    // Inside another call the lock cannot be switched on; the next call that makes an object tries again.
    if (!library.lock.enabled() && mpi::in_user_function()) return;
    library.world->window_thread.wanted = false;
  }
  library.world->window_thread.start();
}

int refuse(Call call) {
  mpi::Library& library = runtime::library();
  const base::EngineGuard guard(library.lock);
  if (library.quiet) {
    return fail(library, call, nullptr,
                base::failure(base::ErrorClass::other,
                              "%s was called between MPIX_Checkpoint_quiesce and "
                              "MPIX_Checkpoint_resume, where this process has no networks",
                              call.name()));
  }
  return fail(
      library, call, nullptr,
      base::failure(base::ErrorClass::other,
                    "MPI is not initialised; call MPI_Init or make a session first, and do not "
                    "call %s after MPI_Finalize",
                    call.name()));
}

int fail(mpi::Library& library, Call call, mpi::Object* on, base::Error error, base::Error cause) {
  const base::EngineGuard guard(library.lock);  // some calls run without it
  return mpi::raise(library, call.name(), on, error, cause);
}

mpi::Object* files_target(mpi::Library& library) noexcept { return &library.errors->new_files; }

mpi::Object* new_comms_target(mpi::Library& library, MPI_Errhandler handler) noexcept {
  return target_with(library, library.errors->new_comms, handler);
}

mpi::Object* new_sessions_target(mpi::Library& library, MPI_Errhandler handler) noexcept {
  return target_with(library, library.errors->new_sessions, handler);
}

int missing(Call call) { return missing(call, mpi::ObjectKind::comm, 0); }

int missing(Call call, mpi::ObjectKind kind, std::uintptr_t handle) {
  mpi::Library& library = runtime::library();
  const base::EngineGuard guard(library.lock);
  mpi::Object* on = library.find_object(kind, handle);
  if (on == nullptr && kind == mpi::ObjectKind::file) on = files_target(library);
  const int code = fail(library, call, on,
                        base::failure(base::ErrorClass::unsupported_operation,
                                      "not working yet in this version of Fulmar; "
                                      "`fulmar info --api` lists what works"));
  report_missing(library, call.name());
  return code;
}

}  // namespace fulmar::api
