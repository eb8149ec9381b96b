// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/basic.h"

namespace fulmar::mpi {

/// The predefined operations, and `user` for all others.
enum class OpCode : std::uint8_t {
  sum,
  min,
  max,
  prod,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  minloc,
  maxloc,
  replace,
  no_op,
  user,
};
inline constexpr std::size_t kernel_op_count = static_cast<std::size_t>(OpCode::maxloc) + 1;

/// result[i] = left[i] op right[i] for `count` elements that follow each other. `result` is
/// `right`, or overlaps neither.
using Kernel = void (*)(const void* left, const void* right, void* result, std::int64_t count);

/// Whether MPI 5.0 section 6.9.2 (6.9.4 for MINLOC and MAXLOC) defines the operation for types of
/// the class.
[[nodiscard]] bool is_defined_for(OpCode op, TypeClass type_class) noexcept;

/// The vector instructions that a loop may use: those of every processor, AVX2, AVX-512.
enum class Vectors : std::uint8_t { basic, wide, widest };

/// Those that this processor has, and that do not lower its clock.
[[nodiscard]] Vectors best_vectors() noexcept;

/// The loop for an operation up to `maxloc` on a basic type; nullptr where it is not defined. With the
/// best vectors of this processor, or with `vectors`, which it must have.
[[nodiscard]] Kernel find_kernel(OpCode op, const BasicType& type) noexcept;
[[nodiscard]] Kernel find_kernel(OpCode op, const BasicType& type, Vectors vectors) noexcept;

}  // namespace fulmar::mpi
