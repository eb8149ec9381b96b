// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::mpi {

/// A function of the program (of attributes, error handlers, generalized requests) that runs inside an
/// MPI call of this thread. While one does, the lock of the library cannot be switched on: the call
/// around it may run without.
class UserFunctionScope {
 public:
  UserFunctionScope() noexcept;
  ~UserFunctionScope();
  UserFunctionScope(const UserFunctionScope&) = delete;
  UserFunctionScope& operator=(const UserFunctionScope&) = delete;
};

/// Whether the calling thread is in such a function. Also where one has left by longjmp.
[[nodiscard]] bool in_user_function() noexcept;

}  // namespace fulmar::mpi
