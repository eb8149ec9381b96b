// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/errhandler/errhandler.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Errhandler> : PlainObjectTraits<MPI_Errhandler> {
  static constexpr base::ErrorClass error_class = base::ErrorClass::errhandler;
  static constexpr const char* what = "error handler";
  static constexpr const char* null_name = "MPI_ERRHANDLER_NULL";
  static Handle null_handle() noexcept { return MPI_ERRHANDLER_NULL; }
};

using ErrhandlerIn = ObjectIn<mpi::Errhandler>;
using ErrhandlerInOut = ObjectInOut<mpi::Errhandler>;

}  // namespace fulmar::api
