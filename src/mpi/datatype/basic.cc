// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/basic.h"

#include <mpi.h>

#include <complex>
#include <type_traits>

#include "mpi/datatype/float128.h"

namespace fulmar::mpi {
namespace {

std::uintptr_t constant(MPI_Datatype handle) { return reinterpret_cast<std::uintptr_t>(handle); }

template <class T>
BasicType basic(MPI_Datatype handle, const char* name, TypeClass type_class, Element element) {
  return {constant(handle), name, element, type_class, alignof(T), sizeof(T)};
}

/// The element of a C integer type, whose width depends on the machine.
template <class T>
constexpr Element integer_element() {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  constexpr int step = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const Element first = std::is_signed_v<T> ? Element::int8 : Element::uint8;
  return static_cast<Element>(static_cast<int>(first) + step);
}

template <class First, class Second>
BasicType pair(MPI_Datatype handle, const char* name, Element element, MPI_Datatype first,
               MPI_Datatype second) {
  struct Pair {
    First first;
    Second second;
  };
  return {constant(handle),
          name,
          element,
          TypeClass::pair,
          alignof(Pair),
          sizeof(First) + sizeof(Second),
          offsetof(Pair, second),
          constant(first),
          constant(second)};
}

BasicType unsupported(MPI_Datatype handle, const char* name) {
  return {constant(handle), name, Element::none, TypeClass::unsupported, 1, 0};
}

}  // namespace

std::span<const BasicType> basic_types() noexcept {
  static const BasicType table[] = {
      basic<std::int64_t>(MPI_AINT, "MPI_AINT", TypeClass::multi_language, Element::int64),
      basic<std::int64_t>(MPI_COUNT, "MPI_COUNT", TypeClass::multi_language, Element::int64),
      basic<std::int64_t>(MPI_OFFSET, "MPI_OFFSET", TypeClass::multi_language, Element::int64),
      basic<char>(MPI_PACKED, "MPI_PACKED", TypeClass::packed, Element::none),
      basic<short>(MPI_SHORT, "MPI_SHORT", TypeClass::c_integer, integer_element<short>()),
      basic<int>(MPI_INT, "MPI_INT", TypeClass::c_integer, integer_element<int>()),
      basic<long>(MPI_LONG, "MPI_LONG", TypeClass::c_integer, integer_element<long>()),
      basic<long long>(MPI_LONG_LONG, "MPI_LONG_LONG", TypeClass::c_integer,
                       integer_element<long long>()),
      basic<unsigned short>(MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", TypeClass::c_integer,
                            integer_element<unsigned short>()),
      basic<unsigned>(MPI_UNSIGNED, "MPI_UNSIGNED", TypeClass::c_integer,
                      integer_element<unsigned>()),
      basic<unsigned long>(MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", TypeClass::c_integer,
                           integer_element<unsigned long>()),
      basic<unsigned long long>(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG",
                                TypeClass::c_integer, integer_element<unsigned long long>()),
      basic<float>(MPI_FLOAT, "MPI_FLOAT", TypeClass::floating, Element::float32),
      basic<std::complex<float>>(MPI_C_FLOAT_COMPLEX, "MPI_C_FLOAT_COMPLEX", TypeClass::complex,
                                 Element::complex32),
      basic<std::complex<float>>(MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", TypeClass::complex,
                                 Element::complex32),
      basic<double>(MPI_DOUBLE, "MPI_DOUBLE", TypeClass::floating, Element::float64),
      basic<std::complex<double>>(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", TypeClass::complex,
                                  Element::complex64),
      basic<std::complex<double>>(MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX",
                                  TypeClass::complex, Element::complex64),
      basic<std::int32_t>(MPI_LOGICAL, "MPI_LOGICAL", TypeClass::logical, Element::logical32),
      basic<std::int32_t>(MPI_INTEGER, "MPI_INTEGER", TypeClass::fortran_integer, Element::int32),
      basic<float>(MPI_REAL, "MPI_REAL", TypeClass::floating, Element::float32),
      basic<std::complex<float>>(MPI_COMPLEX, "MPI_COMPLEX", TypeClass::complex,
                                 Element::complex32),
      basic<double>(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", TypeClass::floating,
                    Element::float64),
      basic<std::complex<double>>(MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", TypeClass::complex,
                                  Element::complex64),
      basic<char>(MPI_CHARACTER, "MPI_CHARACTER", TypeClass::character, Element::none),
      basic<long double>(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", TypeClass::floating,
                         Element::float_long),
      basic<std::complex<long double>>(MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX",
                                       TypeClass::complex, Element::complex_long),
      basic<std::complex<long double>>(MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX",
                                       TypeClass::complex, Element::complex_long),
      basic<bool>(MPI_C_BOOL, "MPI_C_BOOL", TypeClass::logical, Element::boolean),
      basic<bool>(MPI_CXX_BOOL, "MPI_CXX_BOOL", TypeClass::logical, Element::boolean),
      basic<wchar_t>(MPI_WCHAR, "MPI_WCHAR", TypeClass::character, Element::none),
      basic<std::int8_t>(MPI_INT8_T, "MPI_INT8_T", TypeClass::c_integer, Element::int8),
      basic<std::uint8_t>(MPI_UINT8_T, "MPI_UINT8_T", TypeClass::c_integer, Element::uint8),
      // MPI 5.0 section 6.9.2 has no operation for MPI_CHAR, but MPICH and Open MPI reduce it as
      // C's char, and programs count on that.
      basic<char>(MPI_CHAR, "MPI_CHAR", TypeClass::c_integer, integer_element<char>()),
      basic<signed char>(MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", TypeClass::c_integer,
                         integer_element<signed char>()),
      basic<unsigned char>(MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", TypeClass::c_integer,
                           integer_element<unsigned char>()),
      basic<char>(MPI_BYTE, "MPI_BYTE", TypeClass::byte, Element::uint8),
      basic<std::int16_t>(MPI_INT16_T, "MPI_INT16_T", TypeClass::c_integer, Element::int16),
      basic<std::uint16_t>(MPI_UINT16_T, "MPI_UINT16_T", TypeClass::c_integer, Element::uint16),
      basic<std::int32_t>(MPI_INT32_T, "MPI_INT32_T", TypeClass::c_integer, Element::int32),
      basic<std::uint32_t>(MPI_UINT32_T, "MPI_UINT32_T", TypeClass::c_integer, Element::uint32),
      basic<std::int64_t>(MPI_INT64_T, "MPI_INT64_T", TypeClass::c_integer, Element::int64),
      basic<std::uint64_t>(MPI_UINT64_T, "MPI_UINT64_T", TypeClass::c_integer, Element::uint64),
      basic<std::int8_t>(MPI_LOGICAL1, "MPI_LOGICAL1", TypeClass::logical, Element::logical8),
      basic<std::int8_t>(MPI_INTEGER1, "MPI_INTEGER1", TypeClass::fortran_integer, Element::int8),
      basic<std::int16_t>(MPI_LOGICAL2, "MPI_LOGICAL2", TypeClass::logical, Element::logical16),
      basic<std::int16_t>(MPI_INTEGER2, "MPI_INTEGER2", TypeClass::fortran_integer, Element::int16),
      unsupported(MPI_REAL2, "MPI_REAL2"),
      basic<std::int32_t>(MPI_LOGICAL4, "MPI_LOGICAL4", TypeClass::logical, Element::logical32),
      basic<std::int32_t>(MPI_INTEGER4, "MPI_INTEGER4", TypeClass::fortran_integer, Element::int32),
      basic<float>(MPI_REAL4, "MPI_REAL4", TypeClass::floating, Element::float32),
      unsupported(MPI_COMPLEX4, "MPI_COMPLEX4"),
      basic<std::int64_t>(MPI_LOGICAL8, "MPI_LOGICAL8", TypeClass::logical, Element::logical64),
      basic<std::int64_t>(MPI_INTEGER8, "MPI_INTEGER8", TypeClass::fortran_integer, Element::int64),
      basic<double>(MPI_REAL8, "MPI_REAL8", TypeClass::floating, Element::float64),
      basic<std::complex<float>>(MPI_COMPLEX8, "MPI_COMPLEX8", TypeClass::complex,
                                 Element::complex32),
      basic<__int128>(MPI_LOGICAL16, "MPI_LOGICAL16", TypeClass::logical, Element::logical128),
      basic<__int128>(MPI_INTEGER16, "MPI_INTEGER16", TypeClass::fortran_integer, Element::int128),
      basic<Float128>(MPI_REAL16, "MPI_REAL16", TypeClass::floating, Element::float128),
      basic<std::complex<double>>(MPI_COMPLEX16, "MPI_COMPLEX16", TypeClass::complex,
                                  Element::complex64),
      basic<ComplexFloat128>(MPI_COMPLEX32, "MPI_COMPLEX32", TypeClass::complex,
                             Element::complex128),
      pair<float, int>(MPI_FLOAT_INT, "MPI_FLOAT_INT", Element::float32_int, MPI_FLOAT, MPI_INT),
      pair<double, int>(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", Element::float64_int, MPI_DOUBLE,
                        MPI_INT),
      pair<long, int>(MPI_LONG_INT, "MPI_LONG_INT", Element::long_int, MPI_LONG, MPI_INT),
      pair<int, int>(MPI_2INT, "MPI_2INT", Element::int_int, MPI_INT, MPI_INT),
      pair<short, int>(MPI_SHORT_INT, "MPI_SHORT_INT", Element::short_int, MPI_SHORT, MPI_INT),
      pair<long double, int>(MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", Element::float_long_int,
                             MPI_LONG_DOUBLE, MPI_INT),
      pair<float, float>(MPI_2REAL, "MPI_2REAL", Element::float32_float32, MPI_REAL, MPI_REAL),
      pair<double, double>(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", Element::float64_float64,
                           MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION),
      pair<std::int32_t, std::int32_t>(MPI_2INTEGER, "MPI_2INTEGER", Element::int_int, MPI_INTEGER,
                                       MPI_INTEGER),
  };
  return table;
}

}  // namespace fulmar::mpi
