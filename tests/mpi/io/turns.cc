// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective accesses in turns: some wait for the other ranks once, others twice, and all ranks have to know
// which, also where their views differ or the arguments of one of them are wrong.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>

#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Folder;
using test::open_file;
using test::succeeds;

int world_rank() { return test::rank_of(MPI_COMM_WORLD); }
int world_size() { return test::size_of(MPI_COMM_WORLD); }

int write_one(MPI_File file, MPI_Offset place, int value, int count = 1) {
  return MPI_File_write_at_all(file, place, &value, count, MPI_INT, MPI_STATUS_IGNORE);
}

int read_one(MPI_File file, MPI_Offset place, int& value) {
  return MPI_File_read_at_all(file, place, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
}

/// A rank reads what another one writes in the next call.
void writes_follow_reads(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("turns"), test::scratch);
  const int neighbour = (world_rank() + 1) % world_size();
  constexpr int turns = 300;
  for (int turn = 0; turn < turns; ++turn) {
    succeeds(write_one(file, 4 * world_rank(), 1000 * world_rank() + turn), "write");
    int value = -1;
    succeeds(read_one(file, 4 * neighbour, value), "read");
    expect_equal(value, 1000 * neighbour + turn, "of this turn, neither older nor newer");
  }
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

/// Calls that fail lie between those that do not.
void failures_change_no_order(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("wrong"), test::scratch);
  const bool is_wrong = world_rank() == world_size() - 1;
  constexpr int turns = 60;
  for (int turn = 0; turn < turns; ++turn) {
    int value = turn;
    if (turn % 2 == 0) {
      expect(write_one(file, 4 * world_rank(), value, is_wrong ? -1 : 1) != MPI_SUCCESS, "a write");
    }
    if (turn % 3 == 0) {
      expect(read_one(file, is_wrong ? -1 : 0, value) != MPI_SUCCESS, "a read");
    }
    if (turn % 5 == 0) {
      const int count = is_wrong ? -1 : 1;
      expect(MPI_File_write_ordered(file, &value, count, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS,
             "an ordered write");
    }
    succeeds(write_one(file, 4 * world_rank(), turn), "write");
    if (turn % 4 == 0) succeeds(read_one(file, 4 * world_rank(), value), "read");
  }
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

/// One rank has all of a part of the file, the others short runs between each other's.
void some_views_have_short_runs(const Folder& folder, const char* write) {
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "fulmar_mapped", "disable");
  MPI_Info_set(hints, "romio_cb_write", write);
  MPI_File file = MPI_FILE_NULL;
  succeeds(MPI_File_open(MPI_COMM_WORLD, folder.file("views").c_str(), test::scratch, hints, &file),
           "MPI_File_open");
  MPI_Info_free(&hints);
  constexpr int blocks = 500;
  constexpr int ints_a_block = 4;
  MPI_Datatype runs = MPI_DATATYPE_NULL;
  MPI_Type_vector(blocks, ints_a_block, ints_a_block * world_size(), MPI_INT, &runs);
  MPI_Type_commit(&runs);
  std::vector<int> values(blocks * ints_a_block);
  for (int turn = 0; turn < 6; ++turn) {
    const bool all_plain = turn % 3 == 2;
    const bool plain = all_plain || turn % world_size() == world_rank();
    const MPI_Offset start = plain ? MPI_Offset{1 + world_rank()} << 20 : 16 * world_rank();
    succeeds(
        MPI_File_set_view(file, start, MPI_INT, plain ? MPI_INT : runs, "native", MPI_INFO_NULL),
        "MPI_File_set_view");
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 100'000 * turn + static_cast<int>(i);
    }
    std::vector<int> back(values.size(), -1);
    const int count = static_cast<int>(values.size());
    succeeds(MPI_File_write_at_all(file, 0, values.data(), count, MPI_INT, MPI_STATUS_IGNORE),
             "write");
    succeeds(MPI_File_write_at_all(file, 0, values.data(), count, MPI_INT, MPI_STATUS_IGNORE),
             "again");
    succeeds(MPI_File_read_at_all(file, 0, back.data(), count, MPI_INT, MPI_STATUS_IGNORE), "read");
    expect(back == values, "what was written");
  }
  MPI_Type_free(&runs);
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    writes_follow_reads(folder);
    failures_change_no_order(folder);
    for (const char* write : {"automatic", "enable", "disable"}) {
      some_views_have_short_runs(folder, write);
    }
  }
  return test::finish();
}
