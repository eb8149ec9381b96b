// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "base/error.h"
#include "mpi/object.h"

namespace fulmar::mpi {

class Library;
struct ErrorHolder;

/// Raises `error`, found in the MPI function `call` ("MPI_Send"), and returns what that function
/// returns.
///
/// `on` is the communicator, window, file or session that the call names. For nullptr and objects
/// of any other kind it is `default_holder`; where there is none, the initial error handler counts.
/// The handler may end the job, call the user's function (which may call MPI) or do nothing. Keeps
/// the text for `last_error_text` of this thread. Needs the lock of the library.
///
/// Where a call ends with MPI_ERR_IN_STATUS, `cause` is the error in a status that a function of
/// the user gets in its place; the call's result stays.
[[gnu::cold]] int raise(Library& library, const char* call, Object* on, base::Error error,
                        base::Error cause = {});

/// The communicator on which errors are raised that belong to no object: MPI_COMM_SELF (MPI 5.0
/// section 9.3), or MPI_COMM_WORLD where the program has set an error handler on that one only, as
/// programs written before MPI 4.0 do. nullptr while MPI_COMM_SELF does not exist. Needs the lock
/// of the library.
[[nodiscard]] ErrorHolder* default_holder(const Library& library) noexcept;

/// Reports an error that no handler can deal with, because other ranks would wait for ever, and
/// ends the job. `what` and the name of `on` stand before the text. Returns only where the aborter
/// does.
[[gnu::cold]] void end_job(Library& library, const char* what, const ErrorHolder& on,
                           base::Error error);

/// What the last error that this thread raised said, if it had this code; else an empty string.
[[nodiscard]] std::string last_error_text(int code);

}  // namespace fulmar::mpi
