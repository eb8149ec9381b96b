// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/session/session.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Session> {
  using Handle = MPI_Session;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::session;
  static constexpr const char* what = "session";
  static constexpr const char* null_name = "MPI_SESSION_NULL";
  static Handle null_handle() noexcept { return MPI_SESSION_NULL; }
  static void found(Scope& scope, mpi::Session& session) noexcept {
    if (scope.target == nullptr) scope.target = &session;
  }
};

using SessionIn = ObjectIn<mpi::Session>;
using SessionInOut = ObjectInOut<mpi::Session>;

}  // namespace fulmar::api
