// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1
//
// The functions that MPI 3.0 removed (fulmar/mpi_removed.h) do what MPI 1.1 said of them; MPI_LB
// and MPI_UB in MPI_Type_struct and MPI_Type_create_struct set bounds, which types that contain them
// keep.
#include <mpi.h>

#include <cstddef>
#include <vector>

#include "support/check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

struct Entry {
  int blocklength;
  MPI_Aint at;
  MPI_Datatype type;
};

using MakeStruct = int (*)(int, const int*, const MPI_Aint*, const MPI_Datatype*, MPI_Datatype*);
/// The call that is tested.
MakeStruct make_struct = MPI_Type_struct;

MPI_Datatype struct_of(const std::vector<Entry>& entries) {
  std::vector<int> blocklengths;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  for (const Entry& entry : entries) {
    blocklengths.push_back(entry.blocklength);
    places.push_back(entry.at);
    types.push_back(entry.type);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error = make_struct(static_cast<int>(entries.size()), blocklengths.data(),
                                places.data(), types.data(), &made);
  expect_equal(error, MPI_SUCCESS, "a struct");
  return made;
}

/// Expects these bounds by all ways of asking, and frees the type.
void expect_bounds(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub, int size, const char* what) {
  MPI_Aint value = -1;
  MPI_Type_lb(type, &value);
  expect_equal(value, lb, what);
  MPI_Type_ub(type, &value);
  expect_equal(value, ub, what);
  MPI_Type_extent(type, &value);
  expect_equal(value, ub - lb, what);
  int bytes = -1;
  MPI_Type_size(type, &bytes);
  expect_equal(bytes, size, what);
  MPI_Type_free(&type);
}

void no_markers() {
  expect_bounds(struct_of({{1, 0, MPI_CHAR}, {1, 4, MPI_INT}}), 0, 8, 5, "a plain struct");
  expect_bounds(struct_of({{1, 4, MPI_INT}, {3, 8, MPI_CHAR}}), 4, 12, 7, "a struct with padding");
}

void markers() {
  expect_bounds(struct_of({{1, 0, MPI_INT}, {1, 64, MPI_UB}}), 0, 64, 4, "MPI_UB behind");
  expect_bounds(struct_of({{1, 64, MPI_UB}, {1, 8, MPI_INT}}), 8, 64, 4, "MPI_UB ahead");
  expect_bounds(struct_of({{1, -16, MPI_LB}, {1, 0, MPI_INT}}), -16, 4, 4, "MPI_LB");
  expect_bounds(struct_of({{1, -3, MPI_LB}, {2, 0, MPI_INT}, {1, 40, MPI_UB}}), -3, 40, 8, "both");
  expect_bounds(struct_of({{1, 2, MPI_UB}, {1, 0, MPI_INT}}), 0, 2, 4, "an end inside the data");
  expect_bounds(struct_of({{1, 8, MPI_UB}, {1, 0, MPI_INT}, {1, 24, MPI_UB}, {1, 4, MPI_CHAR}}), 0,
                24, 5, "the highest MPI_UB counts, and data between two is kept");
  expect_bounds(struct_of({{1, -8, MPI_LB}, {1, 24, MPI_UB}}), -8, 24, 0, "nothing but markers");
  expect_bounds(struct_of({{0, 100, MPI_UB}, {1, 0, MPI_INT}}), 0, 4, 4, "a marker of length 0");
}

/// A bound once set stays set in the types that contain it.
void nested() {
  MPI_Datatype inner = struct_of({{1, 0, MPI_INT}, {1, 32, MPI_UB}});
  expect_bounds(struct_of({{1, 0, inner}, {1, 16, MPI_UB}}), 0, 32, 4, "an inner MPI_UB above");
  expect_bounds(struct_of({{1, 0, inner}, {1, 48, MPI_UB}}), 0, 48, 4, "an inner MPI_UB below");
  expect_bounds(struct_of({{1, 0, inner}, {1, 40, MPI_INT}}), 0, 32, 8, "an inner MPI_UB alone");
  MPI_Type_free(&inner);
}

/// The order of the data is that of the entries, whatever stands between them.
void data_order() {
  struct Record {
    int a;
    char pad[4];
    double b;
  };
  MPI_Datatype type = struct_of({{1, offsetof(Record, b), MPI_DOUBLE},
                                 {1, static_cast<MPI_Aint>(sizeof(Record)), MPI_UB},
                                 {1, offsetof(Record, a), MPI_INT}});
  MPI_Type_commit(&type);
  const Record in[2] = {{1, {}, 2.5}, {3, {}, 4.5}};
  char packed[64];
  int position = 0;
  MPI_Pack(in, 2, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  expect_equal(position, 24, "packed bytes");
  double b = 0;
  int a = 0;
  position = 12;
  MPI_Unpack(packed, sizeof packed, &position, &b, 1, MPI_DOUBLE, MPI_COMM_SELF);
  MPI_Unpack(packed, sizeof packed, &position, &a, 1, MPI_INT, MPI_COMM_SELF);
  expect(b == 4.5 && a == 3, "the second record, double first");
  MPI_Type_free(&type);
}

void others() {
  int place = 0;
  MPI_Aint old_address = 0;
  MPI_Aint address = 1;
  MPI_Address(&place, &old_address);
  MPI_Get_address(&place, &address);
  expect_equal(old_address, address, "MPI_Address");
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_hvector(3, 1, 10, MPI_INT, &type);
  expect_bounds(type, 0, 24, 12, "MPI_Type_hvector");
  const int blocklengths[2] = {1, 2};
  const MPI_Aint places[2] = {4, 16};
  MPI_Type_hindexed(2, blocklengths, places, MPI_INT, &type);
  expect_bounds(type, 4, 24, 12, "MPI_Type_hindexed");
}

int seen = 0;
void on_error(MPI_Comm* /*comm*/, int* code, ...) { seen = *code; }

void error_handlers() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  MPI_Handler_function* function = on_error;
  MPI_Errhandler_create(function, &handler);
  MPI_Errhandler_get(MPI_COMM_WORLD, &before);
  MPI_Errhandler_set(MPI_COMM_WORLD, handler);
  MPI_Errhandler_get(MPI_COMM_WORLD, &now);
  expect(now == handler, "MPI_Errhandler_get");
  const int error = MPI_Send(nullptr, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
  expect_class(error, MPI_ERR_RANK, "an error");
  expect_equal(seen, error, "the handler is called");
  MPI_Errhandler_set(MPI_COMM_WORLD, before);
  for (MPI_Errhandler* each : {&handler, &before, &now}) MPI_Errhandler_free(each);
}

/// Markers are no datatypes; errors come from the functions below and leave nothing half made.
void wrong_uses() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int ones[3] = {1, -1, 1};
  const MPI_Aint places[3] = {0, 8, 16};
  const MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_UB};
  expect_class(MPI_Type_struct(3, ones, places, types, &made), MPI_ERR_COUNT, "a negative length");
  expect(made == MPI_DATATYPE_NULL, "nothing made");
  expect_class(MPI_Type_struct(3, nullptr, places, types, &made), MPI_ERR_ARG, "no lengths");
  expect_class(MPI_Type_contiguous(2, MPI_UB, &made), MPI_ERR_TYPE, "MPI_UB is no datatype");
  expect_class(MPI_Type_create_struct(3, ones, places, types, &made), MPI_ERR_COUNT,
               "a negative length");
  const MPI_Datatype wrong[2] = {MPI_UB, MPI_DATATYPE_NULL};
  expect_class(MPI_Type_create_struct(2, ones, places, wrong, &made), MPI_ERR_COUNT,
               "a negative length beside a marker");
  const int lengths[2] = {1, 1};
  expect_class(MPI_Type_create_struct(2, lengths, places, wrong, &made), MPI_ERR_TYPE,
               "no datatype beside a marker");
  const MPI_Aint far[2] = {-(MPI_Aint{1} << 62) - (MPI_Aint{1} << 61), MPI_Aint{1} << 62};
  const MPI_Datatype ends[2] = {MPI_LB, MPI_UB};
  expect_class(MPI_Type_create_struct(2, lengths, far, ends, &made), MPI_ERR_VALUE_TOO_LARGE,
               "bounds too far from each other");
  expect(made == MPI_DATATYPE_NULL, "nothing made");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (const MakeStruct each : {MakeStruct{MPI_Type_struct}, MakeStruct{MPI_Type_create_struct}}) {
    make_struct = each;
    no_markers();
    markers();
    nested();
    data_order();
  }
  others();
  error_handlers();
  wrong_uses();
  return test::finish();
}
