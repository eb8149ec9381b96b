// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/info/info.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Info> : PlainObjectTraits<MPI_Info> {
  static constexpr base::ErrorClass error_class = base::ErrorClass::info;
  static constexpr const char* what = "info object";
  static constexpr const char* null_name = "MPI_INFO_NULL";
  static Handle null_handle() noexcept { return MPI_INFO_NULL; }
};

using InfoIn = ObjectIn<mpi::Info>;
using InfoOrNullIn = ObjectIn<mpi::Info, Null::allowed>;
using InfoInOut = ObjectInOut<mpi::Info>;

}  // namespace fulmar::api
