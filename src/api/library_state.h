// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "api/call.h"
#include "base/error.h"
#include "mpi/library.h"
#include "runtime/library_access.h"

namespace fulmar::api {

/// The library while communication is possible, else nullptr. One load; the caller does one
/// compare.
[[nodiscard]] inline mpi::Library* usable_library() noexcept {
  return runtime::usable_library.load(std::memory_order_relaxed);
}

/// The library while its calls are traced, or the types of messages checked: then `usable_library`
/// returns nullptr, so that only the slow path checks this. nullptr
/// otherwise.
[[nodiscard, gnu::cold]] mpi::Library* traced_library() noexcept;

/// Ends a call that needs an initialised MPI and was made before or after that (MPI 5.0 section
/// 9.3: the initial error handler).
[[gnu::cold]] int refuse(Call call);

/// Raises the error of a call, and returns the call's result. `cause`: see mpi::raise.
[[gnu::cold]] int fail(mpi::Library& library, Call call, mpi::Object* on, base::Error error,
                       base::Error cause = {});

/// The object with the error handler of MPI_FILE_NULL: for errors of calls that have no file yet.
[[nodiscard]] mpi::Object* files_target(mpi::Library& library) noexcept;
/// The object that has `handler` from here on, for errors of a call that makes a communicator or a
/// session with it; nullptr where it is no error handler, or one for other objects.
[[nodiscard]] mpi::Object* new_comms_target(mpi::Library& library, MPI_Errhandler handler) noexcept;
[[nodiscard]] mpi::Object* new_sessions_target(mpi::Library& library,
                                               MPI_Errhandler handler) noexcept;

/// Ends a call of an unsupported function: MPI_ERR_UNSUPPORTED_OPERATION on the error handler of
/// the object behind `handle`, if there is one, else that for errors that belong to no object.
/// Where the handler returns, as that of files does by default, one line on stderr says so, the
/// first time in a process.
[[gnu::cold]] int missing(Call call);
[[gnu::cold]] int missing(Call call, mpi::ObjectKind kind, std::uintptr_t handle);

/// A handle, given directly or through a pointer that may be null, as a number.
template <class T>
[[nodiscard]] std::uintptr_t handle_at(T handle) noexcept {
  if constexpr (std::is_pointer_v<std::remove_pointer_t<T>>) {
    return handle == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(*handle);
  } else {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
}

}  // namespace fulmar::api
