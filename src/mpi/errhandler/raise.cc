// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/errhandler/raise.h"

#include <unistd.h>

#include <cstdio>

#include "mpi/errhandler/errhandler.h"
#include "mpi/errhandler/user_function.h"

namespace fulmar::mpi {
namespace {

using base::Error;

/// The last error of this thread, for MPI_Error_string. Without a constructor or destructor, so
/// that it costs nothing to threads that never fail.
struct LastError {
  Error error;
  const char* call = nullptr;
};
thread_local constinit LastError last_error;

/// How many functions of the user are running in this thread, each called for an error inside the
/// one before. A function that meets its own error would go on until the stack ends.
///
/// A function may also leave by an exception or longjmp and never come back here. Then the next one
/// runs no deeper in the stack than it did, which tells the two cases apart.
struct RunningFunctions {
  int count = 0;
  std::uintptr_t last_frame = 0;
};
thread_local constinit RunningFunctions running;
constexpr int most_running_functions = 32;

constexpr auto comm_world_handle = std::uintptr_t{257};
constexpr auto comm_self_handle = std::uintptr_t{258};

bool holds_errhandler(const Object& object) {
  return object.kind == ObjectKind::comm || object.kind == ObjectKind::win ||
         object.kind == ObjectKind::file || object.kind == ObjectKind::session;
}

/// The object whose handler counts; nullptr before MPI_COMM_SELF exists.
ErrorHolder* holder_for(Library& library, Object* on) {
  if (on == nullptr || !holds_errhandler(*on)) return default_holder(library);
  return static_cast<ErrorHolder*>(on);
}

/// The text without the name of the call, where it starts with it.
std::string detail(const char* call, const Error& error) {
  std::string text = error.text();
  const std::string start = std::string(call) + ": ";
  if (text.starts_with(start)) text.erase(0, start.size());
  return text;
}

void report(const ErrorState& state, const char* call, const ErrorHolder* holder,
            const Error& error) {
  std::string line = "fulmar: ";
  if (state.rank >= 0) {
    line += "rank " + std::to_string(state.rank) + " of " + std::to_string(state.size) + ": ";
  }
  line += call;
  if (holder != nullptr && holder->name != nullptr && *holder->name != '\0') {
    line += std::string(" on ") + holder->name;
  }
  line += ": ";
  const int code = error.code();
  if (code >= ErrorCodes::first_user_code) {
    line += "error code " + std::to_string(code);
    const auto text = state.codes.text_of(code);
    if (text.ok() && !text.value().empty()) line += ": " + text.value();
  } else {
    line += std::string(base::error_class_name(error.error_class())) + ": " + detail(call, error);
  }
  line += '\n';
  // One write, so that the lines of several ranks do not mix. If stderr is gone there is no one to
  // tell.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

template <class Handle, class Function>
int call_user(Function* function, const ErrorHolder& holder, int code) {
  auto handle = handle_cast<Handle>(holder);
  function(&handle, &code);
  return code;
}

int call_user(const Errhandler& handler, const ErrorHolder& holder, int code) {
  switch (handler.action) {
    case ErrorAction::call_comm:
      return call_user<MPI_Comm>(handler.function.comm, holder, code);
    case ErrorAction::call_win:
      return call_user<MPI_Win>(handler.function.win, holder, code);
    case ErrorAction::call_file:
      return call_user<MPI_File>(handler.function.file, holder, code);
    default:
      return call_user<MPI_Session>(handler.function.session, holder, code);
  }
}

}  // namespace

int raise(Library& library, const char* call, Object* on, Error error, Error cause) {
  last_error = {error, call};
  ErrorState& state = *library.errors;
  ErrorHolder* holder = holder_for(library, on);
  Errhandler& handler = holder != nullptr ? errhandler_of(library, *holder) : *state.initial;
  if (handler.action == ErrorAction::return_code) return error.code();
  if (handler.action == ErrorAction::fatal || handler.action == ErrorAction::abort ||
      holder == nullptr) {
    report(state, call, holder, error);
    state.aborter.abort(state.aborter.context, error.code());
    return error.code();
  }
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (frame >= running.last_frame) running.count = 0;
  if (running.count == most_running_functions) {
    report(state, call, holder, error);
    report(state, "the error handler of the program", holder,
           base::failure(base::ErrorClass::intern, "it raises errors itself, %d deep",
                         most_running_functions));
    state.aborter.abort(state.aborter.context, error.code());
    return error.code();
  }
  const RunningFunctions outside = running;
  running = {outside.count + 1, frame};
  library.acquire(handler);  // the user's function may free it or set another
  const int code = [&] {
    const UserFunctionScope scope;
    return call_user(handler, *holder, (cause.failed() ? cause : error).code());
  }();
  library.release(handler);
  running = outside;
  return cause.failed() ? error.code() : code;
}

ErrorHolder* default_holder(const Library& library) noexcept {
  auto* self = static_cast<ErrorHolder*>(library.predefined(comm_self_handle));
  if (self == nullptr || self->errhandler != nullptr) return self;
  auto* world = static_cast<ErrorHolder*>(library.predefined(comm_world_handle));
  return world != nullptr && world->errhandler != nullptr ? world : self;
}

void end_job(Library& library, const char* what, const ErrorHolder& on, Error error) {
  ErrorState& state = *library.errors;
  report(state, what, &on, error);
  state.aborter.abort(state.aborter.context, error.code());
}

std::string last_error_text(int code) {
  if (last_error.call == nullptr || last_error.error.code() != code) return {};
  return std::string(last_error.call) + ": " + detail(last_error.call, last_error.error);
}

}  // namespace fulmar::mpi
