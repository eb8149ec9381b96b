// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/object.h"
#include "mpi/p2p/matched.h"

namespace fulmar::api {

template <>
struct ObjectTraits<mpi::Message> {
  using Handle = MPI_Message;
  static constexpr Stage stage = Stage::object;
  static constexpr base::ErrorClass error_class = base::ErrorClass::request;
  static constexpr const char* what = "matched message";
  static constexpr const char* null_name = "MPI_MESSAGE_NULL";
  static Handle null_handle() noexcept { return MPI_MESSAGE_NULL; }
  static void found(Scope& scope, mpi::Message& object) noexcept {
    if (scope.target == nullptr) scope.target = object.comm;
  }
};

/// A message to receive; MPI_MESSAGE_NO_PROC has no object.
struct MessageInOut : ObjectInOut<mpi::Message> {
  static constexpr bool names_origin = true;
  bool check(Scope& scope) noexcept {
    return ObjectInOut<mpi::Message>::check(scope) ||
           (raw != nullptr && *raw == MPI_MESSAGE_NO_PROC);
  }
};

/// The source of a message; only MPI_PROC_NULL matters.
[[nodiscard]] inline int origin_of(const MPI_Message* message) noexcept {
  return message != nullptr && *message == MPI_MESSAGE_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE;
}

}  // namespace fulmar::api
