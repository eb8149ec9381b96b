// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Default names of datatypes (MPI 5.0 section 7.8): those of their constants; where there are two,
// the one that the standard lists first; derived types have none.
// ranks: 1

#include <mpi.h>

#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

std::string name_of(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME] = "?";
  int length = -1;
  MPI_Type_get_name(type, name, &length);
  std::string text(name);
  expect_equal(length, text.size(), "length of the name");
  return text;
}

void check_name(MPI_Datatype type, const char* expected) {
  expect(name_of(type) == expected, expected);
}

void predefined() {
  check_name(MPI_INT, "MPI_INT");
  check_name(MPI_UNSIGNED, "MPI_UNSIGNED");
  check_name(MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG");
  check_name(MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR");
  check_name(MPI_WCHAR, "MPI_WCHAR");
  check_name(MPI_BYTE, "MPI_BYTE");
  check_name(MPI_PACKED, "MPI_PACKED");
  check_name(MPI_AINT, "MPI_AINT");
  check_name(MPI_C_BOOL, "MPI_C_BOOL");
  check_name(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX");
  check_name(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
  check_name(MPI_2INT, "MPI_2INT");
  check_name(MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION");
  check_name(MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION");
  check_name(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
}

void synonyms() {
  check_name(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT");
  check_name(MPI_LONG_LONG, "MPI_LONG_LONG_INT");
  check_name(MPI_C_COMPLEX, "MPI_C_COMPLEX");
  check_name(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX");
}

void derived() {
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &row);
  check_name(row, "");
  MPI_Type_set_name(row, "row");
  check_name(row, "row");
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  MPI_Type_dup(row, &copy);
  check_name(copy, "");
  MPI_Type_free(&row);
  MPI_Type_dup(MPI_INT, &row);
  check_name(row, "");
  MPI_Type_free(&row);
  MPI_Type_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  predefined();
  synonyms();
  derived();
  return test::finish();
}
