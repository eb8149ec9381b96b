// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/request/request.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Request> {
  using Handle = MPI_Request;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::request;
  static constexpr const char* what = "request";
  static constexpr const char* null_name = "MPI_REQUEST_NULL";
  static Handle null_handle() noexcept { return MPI_REQUEST_NULL; }
  static void found(Scope& scope, mpi::Request& object) noexcept {
    if (scope.target != nullptr) return;
    scope.target = object.target != nullptr ? object.target : object.comm;
  }
};

using RequestIn = ObjectIn<mpi::Request>;
using RequestOrNullIn = ObjectIn<mpi::Request, Null::allowed>;
using RequestInOut = ObjectInOut<mpi::Request>;
using RequestOrNullInOut = ObjectInOut<mpi::Request, Null::allowed>;

}  // namespace fulmar::api
