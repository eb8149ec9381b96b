// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/group/group.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Group> : PlainObjectTraits<MPI_Group> {
  static constexpr base::ErrorClass error_class = base::ErrorClass::group;
  static constexpr const char* what = "group";
  static constexpr const char* null_name = "MPI_GROUP_NULL";
  static Handle null_handle() noexcept { return MPI_GROUP_NULL; }
};

using GroupIn = ObjectIn<mpi::Group>;
using GroupInOut = ObjectInOut<mpi::Group>;

}  // namespace fulmar::api
