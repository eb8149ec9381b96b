// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Pack_external, MPI_Unpack_external, MPI_Pack_external_size: the bytes that MPI 5.0 section
// 14.5.2 prescribes, and errors.
// ranks: 1
#include <mpi.h>

#include <complex>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "support/check.h"

namespace {

using Bytes = std::vector<unsigned char>;

/// Packs `count` elements; they must become `expected`, and must come back as they were.
void check_bytes(const void* data, int count, MPI_Datatype type, const Bytes& expected,
                 const char* what) {
  MPI_Aint size = -1;
  test::expect_class(MPI_Pack_external_size("external32", count, type, &size), MPI_SUCCESS, what);
  test::expect_equal(size, expected.size(), what);
  MPI_Count wide = -1;
  MPI_Pack_external_size_c("external32", count, type, &wide);
  test::expect_equal(wide, size, what);
  Bytes packed(expected.size() + 8, 0xee);
  MPI_Aint position = 3;
  test::expect_class(MPI_Pack_external("external32", data, count, type, packed.data(),
                                       static_cast<MPI_Aint>(packed.size()), &position),
                     MPI_SUCCESS, what);
  test::expect_equal(position, 3 + expected.size(), what);
  Bytes wanted(3, 0xee);
  wanted.insert(wanted.end(), expected.begin(), expected.end());
  wanted.resize(packed.size(), 0xee);
  test::expect(packed == wanted, what);
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  Bytes back(static_cast<std::size_t>(extent * count) + 1, 0);
  MPI_Count wide_position = 3;
  test::expect_class(
      MPI_Unpack_external_c("external32", packed.data(), static_cast<MPI_Count>(packed.size()),
                            &wide_position, back.data(), count, type),
      MPI_SUCCESS, what);
  test::expect_equal(wide_position, position, what);
  Bytes again(packed.size(), 0xee);
  position = 3;
  MPI_Pack_external("external32", back.data(), count, type, again.data(),
                    static_cast<MPI_Aint>(again.size()), &position);
  test::expect(again == wanted, what);
}

void integers() {
  const short shorts[] = {1, -2};
  check_bytes(shorts, 2, MPI_SHORT, {0, 1, 0xff, 0xfe}, "short");
  const int ints[] = {0x01020304, -1};
  check_bytes(ints, 2, MPI_INT, {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff}, "int");
  const long longs[] = {0x01020304, -2};
  check_bytes(longs, 2, MPI_LONG, {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe}, "long has 4 bytes");
  const unsigned long unsigned_longs[] = {0xfffffffe};
  check_bytes(unsigned_longs, 1, MPI_UNSIGNED_LONG, {0xff, 0xff, 0xff, 0xfe}, "unsigned long");
  const long long wide = 0x0102030405060708;
  const Bytes in_order = {1, 2, 3, 4, 5, 6, 7, 8};
  check_bytes(&wide, 1, MPI_LONG_LONG, in_order, "long long");
  check_bytes(&wide, 1, MPI_INT64_T, in_order, "int64_t");
  check_bytes(&wide, 1, MPI_UINT64_T, in_order, "uint64_t");
  check_bytes(&wide, 1, MPI_AINT, in_order, "MPI_Aint");
  check_bytes(&wide, 1, MPI_COUNT, in_order, "MPI_Count");
  check_bytes(&wide, 1, MPI_OFFSET, in_order, "MPI_Offset");
  check_bytes(&wide, 1, MPI_INTEGER8, in_order, "INTEGER(8)");
  check_bytes(&wide, 8, MPI_BYTE, {8, 7, 6, 5, 4, 3, 2, 1}, "bytes stay in order");
  check_bytes("text", 4, MPI_CHAR, {'t', 'e', 'x', 't'}, "characters");
  const __int128 widest = (__int128{wide} << 64) | 5;
  Bytes long_bytes = in_order;
  long_bytes.insert(long_bytes.end(), {0, 0, 0, 0, 0, 0, 0, 5});
  check_bytes(&widest, 1, MPI_INTEGER16, long_bytes, "INTEGER(16)");
}

void reals() {
  const float single = -1.5F;
  check_bytes(&single, 1, MPI_FLOAT, {0xbf, 0xc0, 0, 0}, "float");
  check_bytes(&single, 1, MPI_REAL, {0xbf, 0xc0, 0, 0}, "REAL");
  const double twice = -1.5;
  check_bytes(&twice, 1, MPI_DOUBLE, {0xbf, 0xf8, 0, 0, 0, 0, 0, 0}, "double");
  check_bytes(&twice, 1, MPI_DOUBLE_PRECISION, {0xbf, 0xf8, 0, 0, 0, 0, 0, 0}, "DOUBLE PRECISION");
  Bytes quad = {0xbf, 0xff, 0x80};
  quad.resize(16, 0);
  const long double longest = -1.5L;
  check_bytes(&longest, 1, MPI_LONG_DOUBLE, quad, "long double");
  const std::complex<float> pair(-1.5F, 2);
  check_bytes(&pair, 1, MPI_C_FLOAT_COMPLEX, {0xbf, 0xc0, 0, 0, 0x40, 0, 0, 0}, "float complex");
  check_bytes(&pair, 1, MPI_COMPLEX, {0xbf, 0xc0, 0, 0, 0x40, 0, 0, 0}, "COMPLEX");
  const std::complex<long double> long_pair(-1.5L, 2);
  Bytes two = quad;
  two.push_back(0x40);
  two.resize(32, 0);
  check_bytes(&long_pair, 1, MPI_C_LONG_DOUBLE_COMPLEX, two, "long double complex");

  // Values at the edges survive the way there and back.
  using Limits = std::numeric_limits<long double>;
  for (const long double value : {Limits::max(), Limits::min(), Limits::denorm_min(),
                                  Limits::infinity(), -0.0L, 1 + Limits::epsilon()}) {
    char packed[16];
    long double back = 5;
    MPI_Aint position = 0;
    MPI_Pack_external("external32", &value, 1, MPI_LONG_DOUBLE, packed, 16, &position);
    position = 0;
    MPI_Unpack_external("external32", packed, 16, &position, &back, 1, MPI_LONG_DOUBLE);
    test::expect(back == value, "long double comes back");
  }
}

void truths_and_characters() {
  const bool flags[] = {true, false};
  check_bytes(flags, 2, MPI_C_BOOL, {1, 0}, "bool");
  const int logicals[] = {-1, 0, 1};
  check_bytes(logicals, 3, MPI_LOGICAL, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1}, "LOGICAL");
  const unsigned char strange[] = {0x80, 0};
  bool back[] = {false, true};
  MPI_Aint position = 0;
  MPI_Unpack_external("external32", strange, 2, &position, back, 2, MPI_CXX_BOOL);
  unsigned char raw = 0;
  std::memcpy(&raw, &back[0], 1);
  test::expect(raw == 1 && !back[1], "anything but 0 becomes true");
  const wchar_t letters[] = L"a\u20ac";
  check_bytes(letters, 2, MPI_WCHAR, {0, 'a', 0x20, 0xac}, "wchar_t has 2 bytes");
}

void derived() {
  struct Record {
    char tag;
    double value;
    long number;
  };
  const int lengths[] = {1, 1, 1};
  const MPI_Aint at[] = {offsetof(Record, tag), offsetof(Record, value), offsetof(Record, number)};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG};
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, at, types, &record);
  MPI_Type_commit(&record);
  const Record two[] = {{'x', 1, 2}, {'y', -2, -1}};
  check_bytes(two, 2, record, {'x', 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0,    0,    0,    2,
                               'y', 0xc0, 0,    0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff},
              "struct");
  MPI_Type_free(&record);

  // More than any inner buffer holds, in a layout with gaps.
  constexpr int blocks = 30000;
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, 3, -5, MPI_LONG, &vector);
  MPI_Type_commit(&vector);
  std::vector<long> data(5 * blocks + 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<long>(i) * 7919 - 5000;
  Bytes packed(12 * blocks);
  MPI_Aint position = 0;
  MPI_Pack_external("external32", &data[5 * blocks], 1, vector, packed.data(),
                    static_cast<MPI_Aint>(packed.size()), &position);
  test::expect_equal(position, packed.size(), "all is packed");
  bool good = true;
  for (std::size_t i = 0; i < 3 * std::size_t{blocks}; ++i) {
    const long value = data[5 * blocks - i / 3 * 5 + i % 3];
    const auto bits = static_cast<unsigned>(value);
    for (unsigned b = 0; b < 4; ++b) {
      good = good && packed[i * 4 + b] == static_cast<unsigned char>(bits >> (24 - 8 * b));
    }
  }
  test::expect(good, "every number of a long vector");
  std::vector<long> back(data.size(), 77);
  position = 0;
  MPI_Unpack_external("external32", packed.data(), static_cast<MPI_Aint>(packed.size()), &position,
                      &back[5 * blocks], 1, vector);
  for (std::size_t i = 5; i < data.size() - 2; ++i) {
    const bool gap = i % 5 >= 3;
    good = good && back[i] == (gap ? 77 : data[i]);
  }
  test::expect(good, "comes back and leaves the gaps");
  MPI_Type_free(&vector);
  const struct {
    double value;
    int index;
  } located = {1, 2};
  check_bytes(&located, 1, MPI_DOUBLE_INT, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}, "a pair");
}

void errors() {
  char room[32];
  MPI_Aint position = 0;
  MPI_Aint size = -1;
  const long big = 1L << 40;
  const int value = 1;
  test::expect_class(MPI_Pack_external("external32", &big, 1, MPI_LONG, room, 32, &position),
                     MPI_ERR_CONVERSION, "a long that does not fit");
  test::expect_equal(position, 0, "the position stays");
  const wchar_t face = 0x1f600;
  test::expect_class(MPI_Pack_external("external32", &face, 1, MPI_WCHAR, room, 32, &position),
                     MPI_ERR_CONVERSION, "a character that does not fit");
  test::expect_class(MPI_Pack_external("native", &value, 1, MPI_INT, room, 32, &position),
                     MPI_ERR_ARG, "another representation");
  test::expect_class(MPI_Pack_external_size("external64", 1, MPI_INT, &size), MPI_ERR_ARG,
                     "another representation");
  test::expect_class(MPI_Pack_external("external32", &value, 1, MPI_INT, room, 3, &position),
                     MPI_ERR_TRUNCATE, "no room");
  position = 33;
  test::expect_class(MPI_Pack_external("external32", &value, 1, MPI_INT, room, 32, &position),
                     MPI_ERR_ARG, "position outside");
  position = 30;
  int in = 0;
  test::expect_class(MPI_Unpack_external("external32", room, 32, &position, &in, 1, MPI_INT),
                     MPI_ERR_TRUNCATE, "not enough data");
  test::expect_class(MPI_Pack_external("external32", &value, -1, MPI_INT, room, 32, &position),
                     MPI_ERR_COUNT, "negative count");
  test::expect_class(MPI_Pack_external_size("external32", 1, MPI_DATATYPE_NULL, &size),
                     MPI_ERR_TYPE, "null datatype");
  MPI_Count wide = -1;
  test::expect_class(MPI_Pack_external_size_c("external32", MPI_Count{1} << 60, MPI_DOUBLE, &wide),
                     MPI_ERR_COUNT, "too many");
  MPI_Pack_external_size_c("external32", MPI_Count{1} << 40, MPI_LONG, &wide);
  test::expect_equal(wide, MPI_Count{4} << 40, "a large size");
  position = 4;
  test::expect_class(MPI_Pack_external("external32", nullptr, 0, MPI_INT, room, 4, &position),
                     MPI_SUCCESS, "nothing at the end");
  test::expect_equal(position, 4, "position");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  integers();
  reals();
  truths_and_characters();
  derived();
  errors();
  return test::finish();
}
