// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/entry.h"
#include "mpi/io/calls.h"

/// The entry of collective calls on files. A process with invalid arguments (a null
/// pointer, a negative count, an unknown datatype) gets its error, and takes part in the call
/// nevertheless: all processes get an error that names the cause.
namespace fulmar::api {

/// Whether the wrappers of a stage are valid; `error` is that of the first that is not.
template <Stage stage, class Wrapper>
[[nodiscard]] bool is_right(Scope& scope, Call call, Wrapper& wrapper, base::Error& error) {
  if constexpr (Wrapper::stage == stage) {
    if (wrapper.check(scope)) return true;
    error = wrapper.explain(scope, Argument{call.argument(wrapper.index)});
    return false;
  }
  return true;
}

/// After a call has failed. `first` is the file, or the communicator of MPI_File_open; without one
/// there is nothing to take part in. Where all arguments are valid the implementation has failed,
/// which has taken part already.
template <auto join, class First, class... Wrappers>
[[gnu::cold, gnu::noinline]] void join_file_call(Call call, First first, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) library = traced_library();
  if (library == nullptr) return;
  const base::EngineGuard guard(library->lock);
  Scope scope{*library};
  base::Error error;
  if (!first.check(scope)) return;
  if ((is_right<Stage::other>(scope, call, wrappers, error) && ...)) return;
  if constexpr (std::is_invocable_v<decltype(join), mpi::Library&, decltype(first.value(scope)),
                                    const base::Error&>) {
    join(*library, first.value(scope), error);
  } else {
    join(first.value(scope), error);
  }
}

/// `entry`, and after an error of the arguments `join`.
template <auto implementation, auto join, Errors errors = Errors::first_object, class... Wrappers>
[[gnu::always_inline]] inline int file_entry(Call call, Wrappers... wrappers) {
  const int result = entry<implementation, When::running, Lock::held, errors>(call, wrappers...);
  if (result != MPI_SUCCESS) [[unlikely]]
    join_file_call<join>(call, wrappers...);
  return result;
}

}  // namespace fulmar::api
