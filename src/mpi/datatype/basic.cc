// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/basic.h"

#include <mpi-ext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <type_traits>

#include "mpi/datatype/values/float128.h"
#include "mpi/datatype/values/half.h"

namespace fulmar::mpi {
namespace {

using enum Element;
using enum TypeClass;

std::uintptr_t number(MPI_Datatype handle) { return reinterpret_cast<std::uintptr_t>(handle); }

template <class T>
BasicType type(MPI_Datatype handle, const char* name, TypeClass type_class, Element element,
               int external = sizeof(T)) {
  return {number(handle), name,       element,
          type_class,     alignof(T), static_cast<std::uint8_t>(external),
          sizeof(T)};
}

/// A C integer type, whose width depends on the machine.
template <class T>
BasicType integer(MPI_Datatype handle, const char* name, int external) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  constexpr int step = std::countr_zero(sizeof(T));
  constexpr Element first = std::is_signed_v<T> ? int8 : uint8;
  constexpr auto element = static_cast<Element>(static_cast<int>(first) + step);
  return type<T>(handle, name, c_integer, element, external);
}

void add_c_types(std::vector<BasicType>& to) {
  to.insert(to.end(),
            {
                type<std::int64_t>(MPI_AINT, "MPI_AINT", multi_language, int64),
                type<std::int64_t>(MPI_COUNT, "MPI_COUNT", multi_language, int64),
                type<std::int64_t>(MPI_OFFSET, "MPI_OFFSET", multi_language, int64),
                type<char>(MPI_PACKED, "MPI_PACKED", packed, none),
                integer<short>(MPI_SHORT, "MPI_SHORT", 2),
                integer<int>(MPI_INT, "MPI_INT", 4),
                integer<long>(MPI_LONG, "MPI_LONG", 4),
                integer<long long>(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT", 8),
                integer<unsigned short>(MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", 2),
                integer<unsigned>(MPI_UNSIGNED, "MPI_UNSIGNED", 4),
                integer<unsigned long>(MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", 4),
                integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", 8),
                integer<signed char>(MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", 1),
                integer<unsigned char>(MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", 1),
                type<float>(MPI_FLOAT, "MPI_FLOAT", floating, float32),
                type<double>(MPI_DOUBLE, "MPI_DOUBLE", floating, float64),
                type<long double>(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", floating, float_long, 16),
                type<bool>(MPI_C_BOOL, "MPI_C_BOOL", logical, boolean),
                type<bool>(MPI_CXX_BOOL, "MPI_CXX_BOOL", logical, boolean),
                type<wchar_t>(MPI_WCHAR, "MPI_WCHAR", character, wide_character, 2),
                // MPI 5.0 section 6.9.2 has no operation for MPI_CHAR, but MPICH and Open MPI
                // reduce it as
                // C's char, and programs count on that.
                integer<char>(MPI_CHAR, "MPI_CHAR", 1),
                type<char>(MPI_BYTE, "MPI_BYTE", byte, uint8),
                type<std::int8_t>(MPI_INT8_T, "MPI_INT8_T", c_integer, int8),
                type<std::int16_t>(MPI_INT16_T, "MPI_INT16_T", c_integer, int16),
                type<std::int32_t>(MPI_INT32_T, "MPI_INT32_T", c_integer, int32),
                type<std::int64_t>(MPI_INT64_T, "MPI_INT64_T", c_integer, int64),
                type<std::uint8_t>(MPI_UINT8_T, "MPI_UINT8_T", c_integer, uint8),
                type<std::uint16_t>(MPI_UINT16_T, "MPI_UINT16_T", c_integer, uint16),
                type<std::uint32_t>(MPI_UINT32_T, "MPI_UINT32_T", c_integer, uint32),
                type<std::uint64_t>(MPI_UINT64_T, "MPI_UINT64_T", c_integer, uint64),
            });
}

void add_c_complex_types(std::vector<BasicType>& to) {
  using Single = std::complex<float>;
  using Double = std::complex<double>;
  using Long = std::complex<long double>;
  to.insert(to.end(),
            {
                type<Single>(MPI_C_COMPLEX, "MPI_C_COMPLEX", complex, complex32),
                type<Double>(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", complex, complex64),
                type<Long>(MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", complex,
                           complex_long, 32),
                type<Single>(MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", complex, complex32),
                type<Double>(MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", complex, complex64),
                type<Long>(MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", complex,
                           complex_long, 32),
            });
}

/// Those of mpi-ext.h.
void add_half_types(std::vector<BasicType>& to) {
  using Parts = std::array<Half, 2>;
  to.insert(
      to.end(),
      {
          type<Half>(MPIX_C_FLOAT16, "MPIX_C_FLOAT16", floating, float16),
          type<Bfloat16>(MPIX_BFLOAT16, "MPIX_BFLOAT16", floating, bfloat16),
          type<Parts>(MPIX_C_FLOAT16_COMPLEX, "MPIX_C_FLOAT16_COMPLEX", complex, complex16),
          type<Parts>(MPIX_CXX_FLOAT16_COMPLEX, "MPIX_CXX_FLOAT16_COMPLEX", complex, complex16),
      });
}

/// The kinds of numbers that Fortran has in several sizes.
struct FortranKind {
  TypeClass type_class;
  Element smallest;  ///< those of twice the size and so on follow it
  int parts;         ///< 2 for complex numbers
  int smallest_bytes;
};
constexpr FortranKind logicals{logical, logical8, 1, 1};
constexpr FortranKind integers{fortran_integer, int8, 1, 1};
constexpr FortranKind reals{floating, float16, 1, 2};
constexpr FortranKind complexes{complex, complex16, 2, 4};

/// `bytes` is the size of all parts, `external` likewise.
BasicType fortran_type(MPI_Datatype handle, const char* name, const FortranKind& kind, int bytes,
                       int external) {
  int step = std::countr_zero(static_cast<unsigned>(bytes / kind.smallest_bytes));
  // C's long double ranks between float64 and float128, likewise for complex numbers.
  const bool with_long = kind.type_class == floating || kind.type_class == complex;
  if (with_long && step == 3) step = 4;
  const auto element = static_cast<Element>(static_cast<int>(kind.smallest) + step);
  const int alignment = std::min<int>(bytes / kind.parts, alignof(__int128));
  return {number(handle),
          name,
          element,
          kind.type_class,
          static_cast<std::uint8_t>(alignment),
          static_cast<std::uint8_t>(external),
          bytes};
}

BasicType unsupported_type(MPI_Datatype handle, const char* name) {
  return {number(handle), name, none, unsupported, 1, 0, 0};
}

void add_default_fortran_types(std::vector<BasicType>& to, const FortranTypeInfo& fortran) {
  const int real = fortran.real_bytes;
  const int twice = fortran.double_bytes;
  to.insert(
      to.end(),
      {
          type<char>(MPI_CHARACTER, "MPI_CHARACTER", character, none),
          fortran_type(MPI_LOGICAL, "MPI_LOGICAL", logicals, fortran.logical_bytes, 4),
          fortran_type(MPI_INTEGER, "MPI_INTEGER", integers, fortran.integer_bytes, 4),
          fortran_type(MPI_REAL, "MPI_REAL", reals, real, 4),
          fortran_type(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", reals, twice, 8),
          fortran_type(MPI_COMPLEX, "MPI_COMPLEX", complexes, 2 * real, 8),
          fortran.has_double_complex
              ? fortran_type(MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", complexes, 2 * twice, 16)
              : unsupported_type(MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX"),
      });
}

/// The optional types: MPI_INTEGER4 and the like.
void add_sized_fortran_types(std::vector<BasicType>& to, const FortranTypeInfo& fortran) {
  struct Sized {
    MPI_Datatype handle;
    const char* name;
    const FortranKind& kind;
    int bytes;
    unsigned present;
  };
  const Sized table[] = {
      {MPI_LOGICAL1, "MPI_LOGICAL1", logicals, 1, fortran.has_logical},
      {MPI_LOGICAL2, "MPI_LOGICAL2", logicals, 2, fortran.has_logical},
      {MPI_LOGICAL4, "MPI_LOGICAL4", logicals, 4, fortran.has_logical},
      {MPI_LOGICAL8, "MPI_LOGICAL8", logicals, 8, fortran.has_logical},
      {MPI_LOGICAL16, "MPI_LOGICAL16", logicals, 16, fortran.has_logical},
      {MPI_INTEGER1, "MPI_INTEGER1", integers, 1, fortran.has_integer},
      {MPI_INTEGER2, "MPI_INTEGER2", integers, 2, fortran.has_integer},
      {MPI_INTEGER4, "MPI_INTEGER4", integers, 4, fortran.has_integer},
      {MPI_INTEGER8, "MPI_INTEGER8", integers, 8, fortran.has_integer},
      {MPI_INTEGER16, "MPI_INTEGER16", integers, 16, fortran.has_integer},
      {MPI_REAL2, "MPI_REAL2", reals, 2, fortran.has_real},
      {MPI_REAL4, "MPI_REAL4", reals, 4, fortran.has_real},
      {MPI_REAL8, "MPI_REAL8", reals, 8, fortran.has_real},
      {MPI_REAL16, "MPI_REAL16", reals, 16, fortran.has_real},
      {MPI_COMPLEX4, "MPI_COMPLEX4", complexes, 4, fortran.has_complex},
      {MPI_COMPLEX8, "MPI_COMPLEX8", complexes, 8, fortran.has_complex},
      {MPI_COMPLEX16, "MPI_COMPLEX16", complexes, 16, fortran.has_complex},
      {MPI_COMPLEX32, "MPI_COMPLEX32", complexes, 32, fortran.has_complex},
  };
  for (const auto& [handle, name, kind, bytes, present] : table) {
    const bool known = (present & static_cast<unsigned>(bytes)) != 0;
    to.push_back(known ? fortran_type(handle, name, kind, bytes, bytes)
                       : unsupported_type(handle, name));
  }
}

struct NamedPair {
  MPI_Datatype handle;
  const char* name;
  MPI_Datatype first;
  MPI_Datatype second;
};
std::span<const NamedPair> named_pairs() {
  static const NamedPair table[] = {
      {MPI_FLOAT_INT, "MPI_FLOAT_INT", MPI_FLOAT, MPI_INT},
      {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", MPI_DOUBLE, MPI_INT},
      {MPI_LONG_INT, "MPI_LONG_INT", MPI_LONG, MPI_INT},
      {MPI_2INT, "MPI_2INT", MPI_INT, MPI_INT},
      {MPI_SHORT_INT, "MPI_SHORT_INT", MPI_SHORT, MPI_INT},
      {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE, MPI_INT},
      {MPI_2REAL, "MPI_2REAL", MPI_REAL, MPI_REAL},
      {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
      {MPI_2INTEGER, "MPI_2INTEGER", MPI_INTEGER, MPI_INTEGER},
  };
  return table;
}

}  // namespace

BasicTypes::BasicTypes(const FortranTypeInfo& fortran) {
  add_c_types(types_);
  add_c_complex_types(types_);
  add_half_types(types_);
  add_default_fortran_types(types_, fortran);
  add_sized_fortran_types(types_, fortran);
  // Pairs point into the table, which therefore must not move any more.
  types_.reserve(types_.size() + named_pairs().size());
  for (const auto& [handle, name, first, second] : named_pairs()) {
    types_.push_back(pair_of(number(handle), name, find(number(first)), find(number(second))));
  }
}

void BasicTypes::set_logical_values(const LogicalValues& values) noexcept {
  for (BasicType& type : types_) {
    const bool fortran = type.type_class == TypeClass::logical && type.element != Element::boolean;
    if (fortran && type.size == static_cast<std::int64_t>(values.bytes)) {
      type.logical_values = &values;
    }
  }
}

const BasicType& BasicTypes::find(std::uintptr_t handle) const noexcept {
  return *std::find_if(types_.begin(), types_.end(),
                       [&](const BasicType& type) { return type.handle == handle; });
}

BasicType pair_of(std::uintptr_t handle, const char* name, const BasicType& first,
                  const BasicType& second) noexcept {
  const std::int64_t step = second.alignment;
  const std::int64_t offset = (first.size + step - 1) / step * step;
  return {handle,
          name,
          first.element,
          pair,
          std::max(first.alignment, second.alignment),
          static_cast<std::uint8_t>(first.external + second.external),
          first.size + second.size,
          static_cast<std::uint8_t>(offset),
          &first,
          &second};
}

}  // namespace fulmar::mpi
