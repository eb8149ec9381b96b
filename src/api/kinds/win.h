// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/rma/win.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Win> {
  using Handle = MPI_Win;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::win;
  static constexpr const char* what = "window";
  static constexpr const char* null_name = "MPI_WIN_NULL";
  static Handle null_handle() noexcept { return MPI_WIN_NULL; }
  static void found(Scope& scope, mpi::Win& win) noexcept {
    if (scope.win == nullptr) scope.win = &win;
    if (scope.target == nullptr) scope.target = &win;
  }
};

using WinIn = ObjectIn<mpi::Win>;
using WinOrNullIn = ObjectIn<mpi::Win, Null::allowed>;
using WinInOut = ObjectInOut<mpi::Win>;

}  // namespace fulmar::api
