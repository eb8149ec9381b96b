// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// external32 with every predefined datatype, through views with gaps, whose displacements scale with the size of an
// element in the file: the file has what MPI_Pack_external makes.
// ranks: 1 2

#include <mpi.h>

#include <algorithm>

#include "support/files.h"

namespace {

using test::expect_equal;
using test::succeeds;

using Bytes = std::vector<unsigned char>;
constexpr int count = 11;

struct Sample {
  MPI_Datatype type;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Aint size;  ///< of an element in the file
  Bytes memory;   ///< `count` elements
  Bytes packed;   ///< the same, as external32
};

void fails(const Sample& sample, const char* what) {
  test::expect(false, (std::string(sample.name) + ": " + what).c_str());
}

Bytes packed(const Bytes& memory, MPI_Datatype type, MPI_Aint size) {
  Bytes bytes(static_cast<std::size_t>(size * count));
  MPI_Aint position = 0;
  succeeds(MPI_Pack_external("external32", memory.data(), count, type, bytes.data(), size * count,
                             &position),
           "pack");
  return bytes;
}

/// Values that every type has; what they are, conversions say.
Sample sample_of(MPI_Datatype type) {
  Sample sample{};
  sample.type = type;
  int length = 0;
  MPI_Type_get_name(type, sample.name, &length);
  succeeds(MPI_Pack_external_size("external32", 1, type, &sample.size), "size");
  Bytes bytes(static_cast<std::size_t>(sample.size * count));
  for (std::size_t i = 0; i < bytes.size(); i += 7) bytes[i] = 1;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  sample.memory.resize(static_cast<std::size_t>(extent * count));
  MPI_Aint position = 0;
  succeeds(MPI_Unpack_external("external32", bytes.data(), sample.size * count, &position,
                               sample.memory.data(), count, type),
           "unpack");
  sample.packed = packed(sample.memory, type, sample.size);
  return sample;
}

/// The first and the last of every three elements.
MPI_Datatype two_of_three(MPI_Datatype type) {
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, type, &two);
  MPI_Type_commit(&two);
  return two;
}

void check_file(MPI_File file, const Sample& sample, MPI_Offset begin) {
  succeeds(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "bytes");
  const auto size = static_cast<std::size_t>(sample.size);
  Bytes found(size * 3 * count, 0xee);
  MPI_Status status;
  succeeds(MPI_File_read_at(file, begin, found.data(), static_cast<int>(found.size()), MPI_BYTE,
                            &status),
           "read");
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = found.begin() + static_cast<std::ptrdiff_t>((i / 2 * 3 + i % 2 * 2) * size);
    const auto wanted = sample.packed.begin() + static_cast<std::ptrdiff_t>(i * size);
    if (!std::equal(wanted, wanted + static_cast<std::ptrdiff_t>(size), at)) {
      return fails(sample, "an element of the file");
    }
  }
}

void check_type(MPI_File file, const Sample& sample) {
  const MPI_Offset begin = sample.size * 3 * count * test::rank_of(MPI_COMM_WORLD);
  MPI_Datatype filetype = two_of_three(sample.type);
  succeeds(MPI_File_set_view(file, begin, sample.type, filetype, "external32", MPI_INFO_NULL),
           sample.name);
  MPI_Aint extent = 0;
  succeeds(MPI_File_get_type_extent(file, sample.type, &extent), "extent");
  expect_equal(extent, sample.size, sample.name);
  succeeds(MPI_File_get_type_extent(file, filetype, &extent), "extent");
  expect_equal(extent, 3 * sample.size, sample.name);
  MPI_Offset byte = 0;
  succeeds(MPI_File_get_byte_offset(file, 5, &byte), "byte_offset");
  expect_equal(byte, begin + 8 * sample.size, sample.name);
  MPI_Status status;
  succeeds(MPI_File_write_all(file, sample.memory.data(), count, sample.type, &status), "write");
  expect_equal(test::count_of(status, sample.type), count, sample.name);
  MPI_Offset position = 0;
  succeeds(MPI_File_get_position(file, &position), "position");
  expect_equal(position, MPI_Offset{count}, sample.name);
  Bytes back(sample.memory.size());
  succeeds(MPI_File_read_at(file, 0, back.data(), count, sample.type, &status), "read");
  expect_equal(test::count_of(status, sample.type), count, sample.name);
  if (packed(back, sample.type, sample.size) != sample.packed) fails(sample, "what comes back");
  MPI_Type_free(&filetype);
  check_file(file, sample, begin);
}

/// Predefined handles are small integers in the ABI.
int check_all(const test::Folder& folder) {
  constexpr int first = 0x201;
  constexpr int last = 0x2ff;
  int types = 0;
  for (int value = first; value <= last; ++value) {
    MPI_Datatype type = MPI_Type_fromint(value);
    int size = 0;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) continue;
    ++types;
    MPI_File file = test::open_file(MPI_COMM_WORLD, folder.file("types"), test::scratch);
    check_type(file, sample_of(type));
    succeeds(MPI_File_close(&file), "close");
  }
  return types;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  {
    const test::Folder folder;
    test::expect(check_all(folder) >= 60, "most types are there");
  }
  return test::finish();
}
