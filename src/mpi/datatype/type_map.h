// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "mpi/datatype/layout.h"
#include "mpi/datatype/signature.h"

namespace fulmar::mpi {

/// The properties of a type map (MPI 5.0 section 5.1): sizes, bounds, layout and signature.
/// Datatypes are built by building these; nothing here knows handles.
///
/// Bounds follow section 5.1.7: `marked` means that lower and upper bound were set by
/// MPI_Type_create_resized in the map or a part of it. Unmarked maps begin with their data and end with the extents of the
/// types they are made of, and their extent is rounded up to the strictest alignment of their elements. (By the letter they end with
/// their data: docs/liberal.md.)
struct TypeMap {
  std::int64_t size = 0;
  std::int64_t lb = 0;
  std::int64_t ub = 0;
  std::int64_t true_lb = 0;
  std::int64_t true_ub = 0;
  std::int64_t alignment = 1;
  bool marked = false;
  LayoutRef layout;
  SignatureRef signature;

  [[nodiscard]] std::int64_t extent() const noexcept;
  /// Has neither data nor bounds of its own: adds nothing to a map that contains it.
  [[nodiscard]] bool empty() const noexcept { return size == 0 && !marked; }
};

/// `count` copies of `map`, its origin at `at`.
struct Placement {
  std::int64_t at;
  std::int64_t count;
  const TypeMap* map;
};

// All of these fail with MPI_ERR_VALUE_TOO_LARGE where a size or bound leaves 64 bits, and with
// MPI_ERR_TYPE where types are nested deeper than Layout::max_depth.

[[nodiscard]] base::Result<TypeMap> map_of(const BasicType& basic);
/// `count` copies, `stride` bytes apart. Requires count >= 0.
[[nodiscard]] base::Result<TypeMap> repeat(const TypeMap& map, std::int64_t count,
                                           std::int64_t stride);
/// The placements one after the other. Requires counts >= 0.
[[nodiscard]] base::Result<TypeMap> compose(std::span<const Placement> placements);
[[nodiscard]] base::Result<TypeMap> resize(const TypeMap& map, std::int64_t lb,
                                           std::int64_t extent);

}  // namespace fulmar::mpi
