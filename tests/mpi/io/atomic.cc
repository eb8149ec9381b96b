// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Atomic mode: of accesses that overlap one is seen whole.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>

#include <algorithm>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::scratch;
using test::succeeds;

constexpr int count = 3000;

bool are_equal(const std::vector<int>& values) {
  return std::ranges::all_of(values, [&](int value) { return value == values.front(); });
}

/// Every rank writes the same integers, with gaps between them, and reads them back.
void one_write_counts(MPI_File file, bool collective) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  for (int round = 0; round < 20; ++round) {
    const std::vector<int> mine(count, 100 * round + rank + 1);
    const auto write = collective ? MPI_File_write_at_all : MPI_File_write_at;
    succeeds(write(file, 0, mine.data(), count, MPI_INT, MPI_STATUS_IGNORE), "write");
    std::vector<int> back(count, -1);
    succeeds(MPI_File_read_at(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
    expect(are_equal(back), "all of one write");
    expect(back.front() > 0, "of some rank");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_read_at(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
    expect(are_equal(back) && back.front() / 100 == round, "of this round");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    MPI_File file = test::open_file(MPI_COMM_WORLD, folder.file("atomic"), scratch);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, 8, &type);
    MPI_Type_commit(&type);
    succeeds(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), "set_view");
    MPI_Type_free(&type);
    int flag = 1;
    succeeds(MPI_File_get_atomicity(file, &flag), "get_atomicity");
    expect_equal(flag, 0, "off at first");
    succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
    succeeds(MPI_File_get_atomicity(file, &flag), "get_atomicity");
    expect_equal(flag, 1, "on");
    if (test::size_of(MPI_COMM_WORLD) > 1) {
      test::expect_class(MPI_File_set_atomicity(file, test::rank_of(MPI_COMM_WORLD)),
                         test::size_of(MPI_COMM_WORLD) > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS,
                         "ranks differ");
    }
    one_write_counts(file, false);
    one_write_counts(file, true);
    succeeds(MPI_File_close(&file), "close");
  }
  return test::finish();
}
