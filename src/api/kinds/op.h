// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/op/op.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Op> : PlainObjectTraits<MPI_Op> {
  static constexpr base::ErrorClass error_class = base::ErrorClass::op;
  static constexpr const char* what = "reduction operation";
  static constexpr const char* null_name = "MPI_OP_NULL";
  static Handle null_handle() noexcept { return MPI_OP_NULL; }
};

using OpIn = ObjectIn<mpi::Op>;
using OpInOut = ObjectInOut<mpi::Op>;

}  // namespace fulmar::api
