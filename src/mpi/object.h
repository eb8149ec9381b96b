// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace fulmar::mpi {

/// The handle types of the standard ABI (MPI 5.0 chapter 20).
enum class ObjectKind : std::uint8_t {
  op,
  comm,
  group,
  win,
  file,
  session,
  message,
  info,
  errhandler,
  request,
  datatype,
};
inline constexpr std::size_t object_kind_count = 11;

/// What every MPI object has. `handle` is the ABI value that users hold: a constant below 1024 for
/// a predefined object, an address-like value of its arena otherwise.
///
/// `references` counts the user's handle and every use by another object or pending operation, so
/// that a freed communicator or datatype lives as long as it is needed (MPI 5.0, 2.5.1). Guarded by
/// the lock of the library.
struct Object {
  std::uintptr_t handle = 0;
  std::uint32_t references = 1;
  ObjectKind kind;
  bool predefined = false;

  explicit Object(ObjectKind object_kind) noexcept : kind(object_kind) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
};

}  // namespace fulmar::mpi
