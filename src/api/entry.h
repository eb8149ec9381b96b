// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// The path from a C function of MPI to its implementation.
//
// A shim puts each argument into a wrapper, the class that src/api/kinds defines for the argument's
// kind, and passes them all to `entry`. There they are checked, in stages: first the objects (a
// communicator decides whose error handler is used and which ranks exist), then the root, then all
// others in the order of the prototype. The first that is wrong ends the call. Then the
// implementation gets their values.
//
// A wrapper is an aggregate { int index; the raw arguments } with
//
//   static constexpr Stage stage                    when it is checked
//   bool check(Scope&)                              hot and inline: looks up objects, compares ranges
//   base::Error explain(const Scope&, Argument)     cold: the error, as text
//   T value(const Scope&)                           what the implementation gets
//
// Everything on the path of a correct call is inlined into the shim; the compiler then drops the
// indices and names, which only `explain` uses.

#include <cstdint>
#include <type_traits>
#include <utility>

#include "api/library_state.h"
#include "api/receive_check.h"
#include "api/scope.h"
#include "base/engine_lock.h"
#include "base/error.h"
#include "base/trace.h"
#include "mpi/args.h"

namespace fulmar::api {

/// When a function may be called.
enum class When : std::uint8_t { running, any };
/// Whether the call holds the lock of the library: throughout, while the arguments are checked, or
/// not at all.
enum class Lock : std::uint8_t { held, checks, none };
/// On what errors are raised: the first object of the call that has an error handler; MPI_FILE_NULL,
/// for calls that make files (MPI 5.0 section 14.7); or what has the error handler among the
/// arguments of a call that makes a communicator or a session of nothing that has one (sections
/// 7.4.2 and 11.3.1).
enum class Errors : std::uint8_t { first_object, files, new_comms, new_sessions };

/// The object on which all errors of a call are raised that do not wait for the first object.
template <Errors errors, class... Wrappers>
[[nodiscard, gnu::cold]] mpi::Object* errors_target(mpi::Library& library,
                                                    const Wrappers&... wrappers) {
  if constexpr (errors == Errors::files) {
    return files_target(library);
  } else {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    const auto note = [&](const auto& wrapper) {
      if constexpr (requires { handler = wrapper.raw; }) handler = wrapper.raw;
    };
    (note(wrappers), ...);
    return errors == Errors::new_comms ? new_comms_target(library, handler)
                                       : new_sessions_target(library, handler);
  }
}

/// Explains and raises the error of a wrapper. Its arguments are copies of the caller's variables,
/// whose address is thus never taken: they stay in registers.
template <class Wrapper>
[[gnu::cold, gnu::noinline]] int reject(const Scope& scope, Call call, const Wrapper& wrapper) {
  const base::Error error = wrapper.explain(scope, Argument{call.argument(wrapper.index)});
  mpi::Object* target = scope.target;
  if constexpr (requires { wrapper.refused(scope); }) {
    if (target == nullptr) target = wrapper.refused(scope);
  }
  return fail(scope.library, call, target, error);
}

template <Stage stage, class Wrapper>
[[gnu::always_inline]] inline bool check_at(Scope& scope, Call call, Wrapper& wrapper,
                                            int& result) {
  if constexpr (Wrapper::stage == stage) {
    if (!wrapper.check(scope)) [[unlikely]] {
      const Scope scope_now = scope;  // NOLINT(performance-unnecessary-copy-initialization)
      const Wrapper wrapper_now = wrapper;
      result = reject(scope_now, call, wrapper_now);
      return false;
    }
  }
  return true;
}

/// Calls the implementation, with the library and the error target or the form of the call in front
/// where it takes them.
template <auto implementation, class... Values>
[[gnu::always_inline]] inline base::Error invoke(Scope& scope, [[maybe_unused]] Call call,
                                                 mpi::ErrorTarget& target, Values&&... values) {
  using Function = decltype(implementation);
  if constexpr (std::is_invocable_v<Function, mpi::Library&, mpi::ErrorTarget&, Values...>) {
    target.object = scope.target;
    return implementation(scope.library, target, std::forward<Values>(values)...);
  } else if constexpr (std::is_invocable_v<Function, mpi::Library&, mpi::Form, Values...>) {
    const mpi::Form form = call.is_large() ? mpi::Form::large : mpi::Form::plain;
    return implementation(scope.library, form, std::forward<Values>(values)...);
  } else if constexpr (std::is_invocable_v<Function, mpi::Library&, Values...>) {
    return implementation(scope.library, std::forward<Values>(values)...);
  } else {
    static_assert(std::is_invocable_v<Function, Values...>,
                  "the implementation's parameters do not fit spec/*.api; see mpi/args.h");
    return implementation(std::forward<Values>(values)...);
  }
}

/// All checks of a call; where one fails, `result` is that of the call.
template <class... Wrappers>
[[gnu::always_inline]] inline bool check_all([[maybe_unused]] Scope& scope,
                                             [[maybe_unused]] Call call,
                                             [[maybe_unused]] int& result, Wrappers&... wrappers) {
  return (check_at<Stage::object>(scope, call, wrappers, result) && ...) &&
         (check_at<Stage::root>(scope, call, wrappers, result) && ...) &&
         (check_at<Stage::other>(scope, call, wrappers, result) && ...);
}

/// The part of `entry` after the state check and with the lock.
template <auto implementation, Errors errors, Lock lock, class... Wrappers>
[[gnu::always_inline]] inline int run(mpi::Library& library, Call call, Wrappers... wrappers) {
  Scope scope{library};
  if constexpr (errors != Errors::first_object) {
    scope.target = errors_target<errors>(library, wrappers...);
  }
  int result = MPI_SUCCESS;
  bool good = false;
  if constexpr (lock == Lock::checks) {
    const base::EngineGuard guard(library.lock);
    good = check_all(scope, call, result, wrappers...);
  } else {
    good = check_all(scope, call, result, wrappers...);
  }
  if (!good) [[unlikely]]
    return result;
  mpi::ErrorTarget target;
  const base::Error error = invoke<implementation>(scope, call, target, wrappers.value(scope)...);
  if (error.failed()) [[unlikely]] {
    return fail(library, call, target.object != nullptr ? target.object : scope.target, error,
                target.cause);
  }
  return MPI_SUCCESS;
}

/// `run` with the lock held as the call requires.
template <auto implementation, Lock lock, Errors errors, class... Wrappers>
[[gnu::always_inline]] inline int run_locked(mpi::Library& library, Call call,
                                             Wrappers... wrappers) {
  if constexpr (lock != Lock::held) {
    return run<implementation, errors, lock>(library, call, wrappers...);
  } else {
    const base::EngineGuard guard(library.lock);
    return run<implementation, errors, lock>(library, call, wrappers...);
  }
}

/// The slow path: calls before initialisation or after finalization, and all calls while they are
/// traced or checked: the state check, which is needed anyway, leads here, so tracing costs nothing
/// while it is off.
template <auto implementation, When when, Lock lock, Errors errors, class... Wrappers>
[[gnu::cold, gnu::noinline]] int entry_aside(Call call, Wrappers... wrappers) {
  mpi::Library* library = traced_library();
  if (library == nullptr) {
    if constexpr (when == When::running) return refuse(call);
    library = &runtime::library();
  }
  const base::TraceSpan span(library->trace.load(std::memory_order_acquire), call.name());
  if constexpr (receives_message<Wrappers...>) {
    if (library->checks_types) {
      const base::EngineGuard guard(library->lock);
      ReceiveCheck check(*library);
      (check.examine(wrappers), ...);
      const int result = run_locked<implementation, lock, errors>(*library, call, wrappers...);
      return result == MPI_SUCCESS ? check.result(call) : result;
    }
  }
  return run_locked<implementation, lock, errors>(*library, call, wrappers...);
}

/// Runs one call. The result is what the C function returns.
template <auto implementation, When when = When::running, Lock lock = Lock::held,
          Errors errors = Errors::first_object, class... Wrappers>
[[gnu::always_inline]] inline int entry(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) [[unlikely]]
    return entry_aside<implementation, when, lock, errors>(call, wrappers...);
  return run_locked<implementation, lock, errors>(*library, call, wrappers...);
}

}  // namespace fulmar::api
