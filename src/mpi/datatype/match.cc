// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Types found by their properties: MPI_Type_match_size, MPI_Type_create_f90_*, and
// MPI_Type_get_value_index.

#include <limits>
#include <span>

#include "mpi/datatype/calls.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// A Fortran type and the numbers it can hold: decimal digits, and powers of ten.
struct NumericModel {
  MPI_Datatype type;
  int digits;
  int range;
};

constexpr int any = MPI_UNDEFINED;

// On x86 gfortran has a kind between the others, C's long double; elsewhere that one is REAL16.
constexpr bool has_kind_10 = std::numeric_limits<long double>::digits == 64;
constexpr int kind_10_digits = has_kind_10 ? 18 : 0;

std::span<const NumericModel> real_models() {
  static const NumericModel models[] = {{MPI_REAL2, 3, 4},
                                        {MPI_REAL4, 6, 37},
                                        {MPI_REAL8, 15, 307},
                                        {MPI_LONG_DOUBLE, kind_10_digits, 4931},
                                        {MPI_REAL16, 33, 4931}};
  return models;
}
std::span<const NumericModel> complex_models() {
  static const NumericModel models[] = {{MPI_COMPLEX4, 3, 4},
                                        {MPI_COMPLEX8, 6, 37},
                                        {MPI_COMPLEX16, 15, 307},
                                        {MPI_C_LONG_DOUBLE_COMPLEX, kind_10_digits, 4931},
                                        {MPI_COMPLEX32, 33, 4931}};
  return models;
}
std::span<const NumericModel> integer_models() {
  static const NumericModel models[] = {{MPI_INTEGER1, 0, 2},
                                        {MPI_INTEGER2, 0, 4},
                                        {MPI_INTEGER4, 0, 9},
                                        {MPI_INTEGER8, 0, 18},
                                        {MPI_INTEGER16, 0, 38}};
  return models;
}

/// The smallest type with these digits and this range, as a type of its own.
Error give_numeric(Library& library, int combiner, std::span<const NumericModel> models, int digits,
                   int range, MPI_Datatype& out) {
  for (const auto& model : models) {
    if ((digits != any && digits > model.digits) || (range != any && range > model.range)) continue;
    const auto& type = *library.find<Datatype>(model.type);
    if (type.unsupported()) continue;
    const auto made = library.datatypes->numeric(combiner, digits, range, type);
    if (made.ok()) out = handle_cast<MPI_Datatype>(*made.value());
    return made.error();
  }
  return failure(ErrorClass::arg, "no Fortran type has precision %d and range %d", digits, range);
}

Error check_given(int precision, int range) {
  if (precision != any || range != any) return {};
  return failure(ErrorClass::arg, "arguments p and r: one of them must not be MPI_UNDEFINED");
}

}  // namespace

Error type_create_f90_real(Library& library, int precision, int range, MPI_Datatype& out) {
  if (const Error bad = check_given(precision, range); bad.failed()) return bad;
  return give_numeric(library, MPI_COMBINER_F90_REAL, real_models(), precision, range, out);
}

Error type_create_f90_complex(Library& library, int precision, int range, MPI_Datatype& out) {
  if (const Error bad = check_given(precision, range); bad.failed()) return bad;
  return give_numeric(library, MPI_COMBINER_F90_COMPLEX, complex_models(), precision, range, out);
}

Error type_create_f90_integer(Library& library, int range, MPI_Datatype& out) {
  return give_numeric(library, MPI_COMBINER_F90_INTEGER, integer_models(), any, range, out);
}

Error type_match_size(Library& library, int type_class, int size, MPI_Datatype& out) {
  static const MPI_Datatype integers[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                                          MPI_INTEGER16};
  static const MPI_Datatype reals[] = {MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16};
  static const MPI_Datatype complexes[] = {MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16,
                                           MPI_COMPLEX32};
  static const MPI_Datatype logicals[] = {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8,
                                          MPI_LOGICAL16};
  std::span<const MPI_Datatype> candidates;
  switch (type_class) {
    case MPI_TYPECLASS_INTEGER:
      candidates = integers;
      break;
    case MPI_TYPECLASS_REAL:
      candidates = reals;
      break;
    case MPI_TYPECLASS_COMPLEX:
      candidates = complexes;
      break;
    case MPIX_TYPECLASS_LOGICAL:
      candidates = logicals;
      break;
    default:
      return failure(ErrorClass::arg, "argument typeclass: %d is no MPI_TYPECLASS_ constant",
                     type_class);
  }
  for (const MPI_Datatype candidate : candidates) {
    const auto& type = *library.find<Datatype>(candidate);
    if (type.unsupported() || type.size != size) continue;
    out = candidate;
    return {};
  }
  return failure(ErrorClass::arg, "argument size: no type of this class has %d bytes", size);
}

Error type_get_value_index(Library& library, Datatype& value, Datatype& index, MPI_Datatype& out) {
  const auto found = library.datatypes->value_index(value, index);
  if (found.failed()) return found.error();
  out = found.value() != nullptr ? handle_cast<MPI_Datatype>(*found.value()) : MPI_DATATYPE_NULL;
  return {};
}

}  // namespace fulmar::mpi
