// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Comm> {
  using Handle = MPI_Comm;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::comm;
  static constexpr const char* what = "communicator";
  static constexpr const char* null_name = "MPI_COMM_NULL";
  static Handle null_handle() noexcept { return MPI_COMM_NULL; }
  static base::Error revoked_error(const mpi::Comm& comm) { return mpi::revoked_error(comm); }
  static void found(Scope& scope, mpi::Comm& comm) noexcept {
    if (scope.comm == nullptr) scope.comm = &comm;
    if (scope.target == nullptr) scope.target = &comm;
  }
};

using CommIn = ObjectIn<mpi::Comm>;
// Calls that query or free a communicator and need no other process.
using LocalCommIn = ObjectIn<mpi::Comm, Null::refused, Revoked::allowed>;
using CommOrNullIn = ObjectIn<mpi::Comm, Null::allowed, Revoked::allowed>;
using CommInOut = ObjectInOut<mpi::Comm, Null::refused, Revoked::allowed>;

}  // namespace fulmar::api
