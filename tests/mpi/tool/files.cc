// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The performance variables of files: what a program has asked for, and what it came to.
// ranks: 1 3

#include <mpi.h>

#include <string>
#include <vector>

#include "support/files.h"
#include "support/performance_variable.h"

namespace {

using test::expect;
using test::expect_equal;
using test::PerformanceVariable;
using test::succeeds;

constexpr int count = 5000;

void calls_are_counted(const test::Folder& folder) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const auto size = static_cast<unsigned>(test::size_of(MPI_COMM_WORLD));
  test::Hints hints;
  hints.set("romio_cb_write", "enable").set("romio_cb_read", "disable");
  hints.set("fulmar_mapped", "disable");
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("counted"), test::scratch, hints.info());
  const PerformanceVariable reads("file_read_operations");
  const PerformanceVariable writes("file_write_operations");
  const PerformanceVariable collective("file_collective_operations");
  const PerformanceVariable exchanges("file_exchanges");
  const PerformanceVariable bytes_read("file_bytes_read", MPI_T_PVAR_CLASS_AGGREGATE);
  const PerformanceVariable bytes_written("file_bytes_written", MPI_T_PVAR_CLASS_AGGREGATE);
  const PerformanceVariable system_calls("file_system_calls");
  const std::vector<int> values(count, rank);
  std::vector<int> back(count);
  const MPI_Offset own = MPI_Offset{count} * 4 * rank;
  succeeds(MPI_File_write_at_all(file, own, values.data(), count, MPI_INT, MPI_STATUS_IGNORE),
           "write_at_all");
  succeeds(MPI_File_read_at_all(file, own, back.data(), count, MPI_INT, MPI_STATUS_IGNORE),
           "read_at_all");
  succeeds(MPI_File_write_at(file, own, values.data(), 1, MPI_INT, MPI_STATUS_IGNORE), "write_at");
  MPI_Request request = MPI_REQUEST_NULL;
  succeeds(MPI_File_iread_at(file, own, back.data(), 1, MPI_INT, &request), "iread_at");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  succeeds(MPI_File_sync(file), "sync");
  expect_equal(reads.sum(), 2ULL * size, "reads");
  expect_equal(writes.sum(), 2ULL * size, "writes");
  expect_equal(collective.sum(), 2ULL * size, "collective calls");
  expect_equal(exchanges.sum(), size == 1 ? 0ULL : size, "exchanges");
  expect_equal(bytes_written.sum(), 4ULL * size * (count + 1), "bytes written");
  expect_equal(bytes_read.sum(), 4ULL * size * (count + 1), "bytes read");
  // The collective write has one aggregator, whose window holds all.
  expect_equal(system_calls.sum(), 1ULL + size + size + size + size, "system calls");
  succeeds(MPI_File_close(&file), "close");
}

void waits_for_locks_are_counted(const test::Folder& folder) {
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("locked"), test::scratch, MPI_INFO_NULL);
  const PerformanceVariable waits("file_lock_waits");
  succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
  const int value = 1;
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    succeeds(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "write_at");
  }
  expect_equal(waits.sum(), 0ULL, "nobody has waited");
  succeeds(MPI_File_close(&file), "close");
}

void they_have_a_category() {
  int index = -1;
  succeeds(MPI_T_category_get_index("file", &index), "category");
  int controls = 0;
  int variables = 0;
  int categories = 0;
  succeeds(MPI_T_category_get_info(index, nullptr, nullptr, nullptr, nullptr, &controls, &variables,
                                   &categories),
           "info");
  expect_equal(variables, 10, "variables of files");
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    calls_are_counted(folder);
    waits_for_locks_are_counted(folder);
    they_have_a_category();
  }
  const int result = test::finish();
  MPI_T_finalize();
  return result;
}
