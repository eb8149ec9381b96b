// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/datatype/values/logical_values.h"

namespace fulmar::mpi {

/// How one basic element is represented in memory: for arithmetic and conversion.
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
  float16,
  float32,
  float64,
  float_long,  ///< C's long double
  float128,
  complex16,  ///< two float16, and so on
  complex32,
  complex64,
  complex_long,
  complex128,
  boolean,  ///< C's and C++'s bool
  logical8,
  logical16,
  logical32,
  logical64,
  logical128,
  bfloat16,  ///< the upper half of a float32
  wide_character,
};
inline constexpr std::size_t element_count = static_cast<std::size_t>(Element::wide_character) + 1;

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
  unsupported,  ///< optional Fortran types that this library or the Fortran compiler does not have
};

/// A predefined datatype as the table knows it.
struct BasicType {
  std::uintptr_t handle;
  const char* name;
  Element element;  ///< pairs: of the first value
  TypeClass type_class;
  std::uint8_t alignment;
  std::uint8_t external;  ///< bytes in the representation external32 (MPI 5.0 section 14.5.2)
  std::int64_t size;      ///< bytes of data
  // Pairs only: the offset of the second value, and the types of both.
  std::uint8_t second_offset = 0;
  const BasicType* first = nullptr;
  const BasicType* second = nullptr;
  /// The registered values of Fortran's .TRUE. and .FALSE.; nullptr: 1 and 0.
  const LogicalValues* logical_values = nullptr;
};

/// What is known of the Fortran compiler: bytes of its default types, and which types of a fixed
/// size it has. The defaults are those of gfortran without options.
struct FortranTypeInfo {
  int logical_bytes = 4;
  int integer_bytes = 4;
  int real_bytes = 4;
  int double_bytes = 8;
  bool has_double_complex = true;
  /// By the size in bytes, e.g. `has_real & 8`; complex types by the size of both parts.
  unsigned has_logical = 1 | 2 | 4 | 8 | 16;
  unsigned has_integer = 1 | 2 | 4 | 8 | 16;
  unsigned has_real = 4 | 8 | 16;
  unsigned has_complex = 8 | 16 | 32;
};

/// All predefined datatypes of the standard ABI, pairs last. Datatypes refer to the entries.
class BasicTypes {
 public:
  explicit BasicTypes(const FortranTypeInfo& fortran);
  BasicTypes(const BasicTypes&) = delete;
  BasicTypes& operator=(const BasicTypes&) = delete;

  [[nodiscard]] std::span<const BasicType> all() const noexcept { return types_; }
  /// Requires a handle of the table.
  [[nodiscard]] const BasicType& find(std::uintptr_t handle) const noexcept;
  /// For Fortran's logicals of `values.bytes`; the values must outlive this.
  void set_logical_values(const LogicalValues& values) noexcept;

 private:
  std::vector<BasicType> types_;
};

/// The pair of two basic types, with the memory layout of a C struct of both.
[[nodiscard]] BasicType pair_of(std::uintptr_t handle, const char* name, const BasicType& first,
                                const BasicType& second) noexcept;

}  // namespace fulmar::mpi
