// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The performance variables of files: what a program has asked for, and what it came to.
// ranks: 1 3

#include <mpi.h>

#include <string>
#include <vector>

#include "support/files.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

/// A variable of all processes together, from its making on.
class Variable {
 public:
  Variable(const char* name, int var_class) {
    int index = -1;
    int objects = 0;
    succeeds(MPI_T_pvar_get_index(name, var_class, &index), name);
    MPI_T_pvar_session_create(&session_);
    MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &objects);
    MPI_T_pvar_start(session_, handle_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { MPI_T_pvar_session_free(&session_); }
  [[nodiscard]] unsigned long long value() {
    unsigned long long here = 0;
    unsigned long long all = 0;
    succeeds(MPI_T_pvar_read(session_, handle_, &here), "read");
    MPI_Allreduce(&here, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

constexpr int count = 5000;

void calls_are_counted(const test::Folder& folder) {
  const int rank = test::rank_of(MPI_COMM_WORLD);
  const auto size = static_cast<unsigned>(test::size_of(MPI_COMM_WORLD));
  test::Hints hints;
  hints.set("romio_cb_write", "enable").set("romio_cb_read", "disable");
  hints.set("fulmar_mapped", "disable");
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("counted"),
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, hints.info());
  Variable reads("file_read_operations", MPI_T_PVAR_CLASS_COUNTER);
  Variable writes("file_write_operations", MPI_T_PVAR_CLASS_COUNTER);
  Variable collective("file_collective_operations", MPI_T_PVAR_CLASS_COUNTER);
  Variable exchanges("file_exchanges", MPI_T_PVAR_CLASS_COUNTER);
  Variable bytes_read("file_bytes_read", MPI_T_PVAR_CLASS_AGGREGATE);
  Variable bytes_written("file_bytes_written", MPI_T_PVAR_CLASS_AGGREGATE);
  Variable system_calls("file_system_calls", MPI_T_PVAR_CLASS_COUNTER);
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
  expect_equal(reads.value(), 2ULL * size, "reads");
  expect_equal(writes.value(), 2ULL * size, "writes");
  expect_equal(collective.value(), 2ULL * size, "collective calls");
  expect_equal(exchanges.value(), size == 1 ? 0ULL : size, "exchanges");
  expect_equal(bytes_written.value(), 4ULL * size * (count + 1), "bytes written");
  expect_equal(bytes_read.value(), 4ULL * size * (count + 1), "bytes read");
  // The collective write has one aggregator, whose window holds all.
  expect_equal(system_calls.value(), 1ULL + size + size + size + size, "system calls");
  succeeds(MPI_File_close(&file), "close");
}

void waits_for_locks_are_counted(const test::Folder& folder) {
  MPI_File file =
      test::open_file(MPI_COMM_WORLD, folder.file("locked"),
                      MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL);
  Variable waits("file_lock_waits", MPI_T_PVAR_CLASS_COUNTER);
  succeeds(MPI_File_set_atomicity(file, 1), "set_atomicity");
  const int value = 1;
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    succeeds(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "write_at");
  }
  expect_equal(waits.value(), 0ULL, "nobody has waited");
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
