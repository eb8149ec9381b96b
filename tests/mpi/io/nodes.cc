// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What ranks see of each other's data by the rules of MPI 5.0 section 14.6.1, and no more: by MPI_File_sync,
// a barrier and MPI_File_sync; by atomic mode; by closing and opening. The ranks may be on several nodes that
// have the files from a server, whose clients cache data, sizes and names (tests/rdma/soak_nfs.py).
// ranks: 1 2 4

#include <mpi.h>

#include <string>
#include <vector>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

constexpr int rounds = 5;
constexpr int length = 300;  // integers of a rank: less than a page, so that ranks share pages

struct World {
  int rank = test::rank_of(MPI_COMM_WORLD);
  int size = test::size_of(MPI_COMM_WORLD);
};

void publish(MPI_File file) {
  succeeds(MPI_File_sync(file), "sync");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_sync(file), "sync");
}

std::vector<int> values_of(int rank, int round) {
  std::vector<int> values(length);
  for (int i = 0; i < length; ++i) {
    values[static_cast<std::size_t>(i)] = 100'000 * round + 1000 * rank + i;
  }
  return values;
}

void expect_block(MPI_File file, int rank, int round, const char* what) {
  std::vector<int> found(length, -1);
  MPI_Status status;
  succeeds(
      MPI_File_read_at(file, MPI_Offset{4} * length * rank, found.data(), length, MPI_INT, &status),
      what);
  expect_equal(test::count_of(status, MPI_INT), length, what);
  expect(found == values_of(rank, round), what);
}

/// The same places again and again: each rank has read, and cached, what is replaced.
void sync_shows_data(const Folder& folder) {
  const World world;
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("sync"), scratch);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> values = values_of(world.rank, round);
    succeeds(MPI_File_write_at(file, MPI_Offset{4} * length * world.rank, values.data(), length,
                               MPI_INT, MPI_STATUS_IGNORE),
             "write_at");
    publish(file);
    for (int rank = 0; rank < world.size; ++rank) {
      expect_block(file, rank, round, "independent writes are seen behind sync, barrier, sync");
    }
    publish(file);
  }
  succeeds(MPI_File_close(&file), "close");
}

void sync_shows_collective_data(const Folder& folder, const char* two_phases) {
  const World world;
  test::Hints hints;
  hints.set("romio_cb_write", two_phases).set("romio_cb_read", two_phases);
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("all"), scratch, hints.info());
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> values = values_of(world.rank, round);
    const MPI_Offset at = MPI_Offset{4} * length * world.rank;
    succeeds(MPI_File_write_at_all(file, at, values.data(), length, MPI_INT, MPI_STATUS_IGNORE),
             "write_at_all");
    publish(file);
    const int other = (world.rank + 1) % world.size;
    expect_block(file, other, round, "collective writes are seen by independent reads");
    std::vector<int> found(length, -1);
    succeeds(MPI_File_read_at_all(file, MPI_Offset{4} * length * other, found.data(), length,
                                  MPI_INT, MPI_STATUS_IGNORE),
             "read_at_all");
    expect(found == values_of(other, round), "collective writes are seen by collective reads");
    publish(file);
  }
  succeeds(MPI_File_close(&file), "close");
}

/// What a rank has written and reads again needs no sync, whether other nodes have stored it for the rank or read
/// it: they exchange by two phases on one side only.
void own_data_are_seen_without_sync(const Folder& folder, const char* write, const char* read) {
  const World world;
  test::Hints hints;
  hints.set("romio_cb_write", write).set("romio_cb_read", read).set("cb_buffer_size", "4096");
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("own"), scratch, hints.info());
  const MPI_Offset at = MPI_Offset{4} * length * world.rank;
  for (int round = 0; round < 2 * rounds; ++round) {
    const std::vector<int> values = values_of(world.rank, round);
    const auto store = round % 2 == 0 ? MPI_File_write_at_all : MPI_File_write_at;
    succeeds(store(file, at, values.data(), length, MPI_INT, MPI_STATUS_IGNORE), "write");
    for (const auto load : {MPI_File_read_at, MPI_File_read_at_all}) {
      std::vector<int> found(length, -1);
      succeeds(load(file, at, found.data(), length, MPI_INT, MPI_STATUS_IGNORE), "read");
      expect(found == values, "what the rank itself has written");
    }
  }
  succeeds(MPI_File_close(&file), "close");
}

/// Rank after rank writes; the others read with nothing but a barrier between.
void atomic_mode_needs_no_sync(const Folder& folder) {
  const World world;
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("atomic"), scratch);
  succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
  for (int round = 0; round < rounds; ++round) {
    for (int rank = 0; rank < world.size; ++rank) {
      if (rank == world.rank) {
        const std::vector<int> values = values_of(rank, round);
        succeeds(MPI_File_write_at(file, MPI_Offset{4} * length * rank, values.data(), length,
                                   MPI_INT, MPI_STATUS_IGNORE),
                 "write_at");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      expect_block(file, rank, round, "atomic writes are seen at once");
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  succeeds(MPI_File_close(&file), "close");
}

/// All write all of a place at once; each read finds the data of one rank, whole.
void atomic_accesses_are_whole(const Folder& folder) {
  const World world;
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("whole"), scratch);
  succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
  std::vector<int> found(length);
  for (int round = 0; round < 10 * rounds; ++round) {
    const std::vector<int> own(length, world.rank);
    succeeds(MPI_File_write_at(file, 0, own.data(), length, MPI_INT, MPI_STATUS_IGNORE), "write");
    succeeds(MPI_File_read_at(file, 0, found.data(), length, MPI_INT, MPI_STATUS_IGNORE), "read");
    expect(found == std::vector<int>(length, found[0]), "the data of one rank");
  }
  succeeds(MPI_File_close(&file), "close");
}

void expect_size(MPI_File file, MPI_Offset expected, const char* what) {
  MPI_Offset size = -1;
  succeeds(MPI_File_get_size(file, &size), "get_size");
  expect_equal(size, expected, what);
}

void sizes_are_seen(const Folder& folder) {
  const World world;
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("size"), scratch);
  for (int round = 1; round <= rounds; ++round) {
    expect_size(file, 0, "nothing in it");
    // No rank may see the size before it changes, or afterwards what was changed later.
    MPI_Barrier(MPI_COMM_WORLD);
    const int writer = round % world.size;
    const std::vector<int> values = values_of(writer, round);
    if (world.rank == writer) {
      succeeds(MPI_File_write_at(file, 4000, values.data(), length, MPI_INT, MPI_STATUS_IGNORE),
               "write_at");
    }
    publish(file);
    expect_size(file, 4000 + 4 * length, "behind what one rank has written");
    std::vector<int> found(length + 1, -1);
    MPI_Status status;
    succeeds(MPI_File_read_at(file, 4000, found.data(), length + 1, MPI_INT, &status), "read_at");
    expect_equal(test::count_of(status, MPI_INT), length, "up to the end");
    succeeds(MPI_File_set_size(file, 100), "set_size");
    expect_size(file, 100, "shorter");
    succeeds(MPI_File_read_at(file, 0, found.data(), length, MPI_INT, &status), "read_at");
    expect_equal(test::count_of(status, MPI_INT), 25, "up to the new end");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_preallocate(file, 5000), "preallocate");
    expect_size(file, 5000, "longer");
    MPI_Barrier(MPI_COMM_WORLD);
    succeeds(MPI_File_set_size(file, 0), "set_size");
  }
  succeeds(MPI_File_close(&file), "close");
}

/// Each record that any rank appends is there once.
void shared_pointer_appends(const Folder& folder) {
  const World world;
  constexpr int records = 40;
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("log"), scratch);
  for (int i = 0; i < records; ++i) {
    const int record[4] = {world.rank, i, world.rank, i};
    succeeds(MPI_File_write_shared(file, record, 4, MPI_INT, MPI_STATUS_IGNORE), "write_shared");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int last[4] = {world.rank, records, world.rank, records};
  succeeds(MPI_File_write_ordered(file, last, 4, MPI_INT, MPI_STATUS_IGNORE), "write_ordered");
  publish(file);
  const int total = (records + 1) * world.size;
  std::vector<int> found(4 * static_cast<std::size_t>(total) + 1, -1);
  MPI_Status status;
  succeeds(
      MPI_File_read_at(file, 0, found.data(), static_cast<int>(found.size()), MPI_INT, &status),
      "read_at");
  expect_equal(test::count_of(status, MPI_INT), 4 * total, "the length of all records");
  std::vector<int> next(static_cast<std::size_t>(world.size), 0);
  for (int at = 0; at < total; ++at) {
    const int* record = found.data() + 4 * static_cast<std::size_t>(at);
    const bool whole = record[0] >= 0 && record[0] < world.size && record[2] == record[0];
    expect(whole && record[3] == record[1], "a whole record");
    if (!whole) continue;
    expect_equal(record[1], next[static_cast<std::size_t>(record[0])]++,
                 "those of a rank in order");
  }
  for (int rank = 0; rank < world.size; ++rank) {
    expect_equal(found[4 * static_cast<std::size_t>(total - world.size + rank)], rank, "ordered");
  }
  succeeds(MPI_File_close(&file), "close");
}

/// A name that each node has just found missing; and then content that is replaced between openings.
void opening_shows_names_and_data(const Folder& folder) {
  const World world;
  const std::string name = folder.file("name");
  for (int round = 0; round < rounds; ++round) {
    MPI_File file = MPI_FILE_NULL;
    expect_class(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                 MPI_ERR_NO_SUCH_FILE, "open before it is made");
    const int writer = round % world.size;
    file = open_file(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    if (world.rank == writer) {
      const std::vector<int> values = values_of(0, round);
      succeeds(MPI_File_write_at(file, 0, values.data(), length, MPI_INT, MPI_STATUS_IGNORE),
               "write_at");
    }
    succeeds(MPI_File_close(&file), "close");
    file = open_file(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
    expect_block(file, 0, round, "what was written before it was closed");
    succeeds(MPI_File_close(&file), "close");
    file = open_file(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    succeeds(MPI_File_close(&file), "close");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    sync_shows_data(folder);
    for (const char* use : {"enable", "disable"}) sync_shows_collective_data(folder, use);
    own_data_are_seen_without_sync(folder, "enable", "disable");
    own_data_are_seen_without_sync(folder, "disable", "enable");
    atomic_mode_needs_no_sync(folder);
    atomic_accesses_are_whole(folder);
    sizes_are_seen(folder);
    shared_pointer_appends(folder);
    opening_shows_names_and_data(folder);
  }
  return test::finish();
}
