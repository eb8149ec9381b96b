// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "mpi/errhandler/error_codes.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// What happens when an error is raised (MPI 5.0 section 9.3).
enum class ErrorAction : std::uint8_t {
  fatal,         ///< MPI_ERRORS_ARE_FATAL: report, end the job
  abort,         ///< MPI_ERRORS_ABORT: report, end the processes of the object (today: the job)
  return_code,   ///< MPI_ERRORS_RETURN
  call_comm,     ///< a function of the user for communicators,
  call_win,      ///< windows,
  call_file,     ///< files,
  call_session,  ///< sessions
};

/// An error handler. Predefined ones live in ErrorState, others are made by `errhandler_create`.
struct Errhandler : Object {
  static constexpr ObjectKind object_kind = ObjectKind::errhandler;
  union Function {
    MPI_Comm_errhandler_function* comm;
    MPI_Win_errhandler_function* win;
    MPI_File_errhandler_function* file;
    MPI_Session_errhandler_function* session;
  };

  explicit Errhandler(ErrorAction error_action) noexcept
      : Object(object_kind), action(error_action) {}
  Errhandler(ErrorAction error_action, Function user_function) noexcept
      : Object(object_kind), action(error_action), function(user_function) {}

  ErrorAction action;
  std::uint32_t user_handles = 1;
  Function function{};
};

/// The common base of the objects on which errors are raised: Comm, Win, File and Session. Holds
/// one reference of the handler; `set_errhandler` changes it, `drop_errhandler` gives it back at
/// the end.
struct ErrorHolder : Object {
  using Object::Object;

  /// nullptr: none was set, by the program or by the option that it was started with. Stands for
  /// MPI_ERRORS_ARE_FATAL.
  Errhandler* errhandler = nullptr;
  /// The object's name for reports; storage of the object. May be nullptr.
  const char* name = nullptr;
};

/// Ends the job: `code` becomes its exit code. Normally does not return; tests have one that does.
struct JobAborter {
  void (*abort)(void* context, int code) = nullptr;
  void* context = nullptr;
};

/// The state of error handling in one process: predefined handlers, codes made by the user, and
/// which object we are in reports. Made by `runtime` before the first MPI call does anything; known
/// as `library.errors`.
class ErrorState {
 public:
  /// Defines the predefined handlers in `library` and registers there. Both must outlive their use.
  ErrorState(Library& library, JobAborter aborter) noexcept;
  ~ErrorState();
  ErrorState(const ErrorState&) = delete;
  ErrorState& operator=(const ErrorState&) = delete;

  Errhandler fatal{ErrorAction::fatal};
  Errhandler aborting{ErrorAction::abort};
  Errhandler returning{ErrorAction::return_code};
  /// For errors before initialisation and after finalisation, and the first handler of
  /// MPI_COMM_WORLD, MPI_COMM_SELF and the sessions (info key mpi_initial_errhandler, MPI 5.0
  /// section 11.6).
  Errhandler* initial = &fatal;
  /// MPI_FILE_NULL, as far as error handlers go: it holds the handler that opened files start with.
  ErrorHolder new_files{ObjectKind::file};
  /// Holds the handler that a call was given which makes a communicator from groups: errors of the
  /// call have no other object to be raised on. Functions of the user get MPI_COMM_NULL.
  ErrorHolder new_comms{ObjectKind::comm};
  /// The same for MPI_Session_init. Functions of the user get MPI_SESSION_NULL.
  ErrorHolder new_sessions{ObjectKind::session};

  ErrorCodes codes;
  JobAborter aborter;
  /// Names of calls that do not work yet and were reported on stderr, each once
  /// (api/library_state.h).
  std::vector<const char*> reported_calls;
  /// Rank and size in MPI_COMM_WORLD, or -1 and 0 while there is none.
  int rank = -1;
  int size = 0;

 private:
  Library& library_;
};

/// Makes `holder` use `handler` and keeps a reference; the old handler loses one.
/// Fails with MPI_ERR_ERRHANDLER where a user handler was made for another kind of object.
base::Error set_errhandler(Library& library, ErrorHolder& holder, Errhandler& handler);
/// What `holder` uses at this moment; never nullptr.
Errhandler& errhandler_of(const Library& library, const ErrorHolder& holder) noexcept;
/// Gives back the reference of an object that ends.
void drop_errhandler(Library& library, ErrorHolder& holder) noexcept;

}  // namespace fulmar::mpi
