// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fulmar::mpi {

/// How one basic element is represented in memory: what arithmetic needs to know.
enum class Element : std::uint8_t {
  none,  ///< bytes without a meaning of their own, or a mix
  int8,
  int16,
  int32,
  int64,
  int128,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float_long,  ///< C's long double
  float128,
  complex32,  ///< two float32, and so on
  complex64,
  complex_long,
  complex128,
  boolean,  ///< C's and C++'s bool
  logical8,
  logical16,
  logical32,
  logical64,
  logical128,
  float32_int,  ///< pairs for MINLOC and MAXLOC
  float64_int,
  long_int,
  int_int,
  short_int,
  float_long_int,
  float32_float32,
  float64_float64,
};
inline constexpr std::size_t element_count = static_cast<std::size_t>(Element::float64_float64) + 1;

/// The groups of types that decide which predefined operations are defined (MPI 5.0 section 6.9.2).
enum class TypeClass : std::uint8_t {
  c_integer,
  fortran_integer,
  floating,
  logical,
  complex,
  byte,
  multi_language,
  pair,
  character,  ///< MPI_WCHAR, MPI_CHARACTER: not for arithmetic
  packed,
  unsupported,  ///< optional Fortran types that this library does not have
};

/// A predefined datatype as the table knows it.
struct BasicType {
  std::uintptr_t handle;
  const char* name;
  Element element;
  TypeClass type_class;
  std::uint8_t alignment;
  std::int64_t size;  ///< bytes of data
  // Pairs only: the offset of the second value, and the handles of both.
  std::uint8_t second_offset = 0;
  std::uintptr_t first = 0;
  std::uintptr_t second = 0;
};

/// All predefined datatypes of the standard ABI, pairs last.
[[nodiscard]] std::span<const BasicType> basic_types() noexcept;

}  // namespace fulmar::mpi
