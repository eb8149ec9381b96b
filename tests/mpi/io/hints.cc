// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Hints have their effect: how many ranks write in a collective call is what cb_nodes and cb_config_list
// say, and MPI_File_get_info reports what is in effect.
// ranks: 1 4

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/performance_variable.h"

namespace {

using test::expect;
using test::expect_equal;
using test::succeeds;

constexpr int count = 20000;

/// How many processes have written since `written` was read last.
int writers(const test::PerformanceVariable& bytes_written, unsigned long long& written) {
  const unsigned long long now = bytes_written.value();
  int wrote = now != written ? 1 : 0;
  written = now;
  MPI_Allreduce(MPI_IN_PLACE, &wrote, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return wrote;
}

class Program {
 public:
  explicit Program(const test::Folder& folder) : name_(folder.file("hints")) {}

  /// Rank 0's hints count.
  void expect_writers(const char* nodes, const char* list, int expected) {
    test::Hints hints;
    hints.set("romio_cb_write", "enable").set("cb_buffer_size", "4096");
    if (nodes != nullptr) hints.set("cb_nodes", nodes);
    if (list != nullptr && rank_ == 0) hints.set("cb_config_list", list);
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    const std::vector<int> values(count, rank_);
    succeeds(MPI_File_write_at_all(file, MPI_Offset{4} * count * rank_, values.data(), count,
                                   MPI_INT, MPI_STATUS_IGNORE),
             "write");
    const int wrote = writers(bytes_written_, written_);
    if (wrote != expected) {
      expect_equal(wrote, expected, list != nullptr ? list : nodes != nullptr ? nodes : "none");
    }
    expect(test::Hints::value(file, "cb_nodes") == std::to_string(expected), "cb_nodes");
    const bool is_list = list != nullptr && std::string(list).find("::") == std::string::npos;
    expect(test::Hints::value(file, "cb_config_list") == (is_list ? list : ""), "cb_config_list");
    for (const char* none : {"striping_factor", "nb_proc", "access_style"}) {
      expect(test::Hints::value(file, none).empty(), none);
    }
    succeeds(MPI_File_close(&file), "close");
  }

  void style_may_change() {
    test::Hints hints;
    hints.set("access_style", "random");
    MPI_File file = test::open_file(MPI_COMM_WORLD, name_, test::scratch, hints.info());
    expect(test::Hints::value(file, "access_style") == "random", "at open");
    test::Hints later;
    later.set("access_style", "read_once,sequential").set("cb_config_list", "*:*");
    succeeds(MPI_File_set_info(file, later.info()), "set_info");
    expect(test::Hints::value(file, "access_style") == "sequential", "later");
    expect(test::Hints::value(file, "cb_config_list").empty(), "aggregators are chosen at open");
    succeeds(MPI_File_close(&file), "close");
  }

 private:
  std::string name_;
  int rank_ = test::rank_of(MPI_COMM_WORLD);
  test::PerformanceVariable bytes_written_{"file_bytes_written", MPI_T_PVAR_CLASS_AGGREGATE};
  unsigned long long written_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  {
    const int size = test::size_of(MPI_COMM_WORLD);
    const test::Folder folder;
    Program program(folder);
    program.expect_writers("1", nullptr, 1);
    program.expect_writers("3", nullptr, std::min(size, 3));
    program.expect_writers(nullptr, "*:1", 1);
    program.expect_writers(nullptr, "*:3", std::min(size, 3));
    program.expect_writers("2", "*:*", std::min(size, 2));
    program.expect_writers(nullptr, "*:*", size);
    program.expect_writers(nullptr, "elsewhere:4", 1);
    program.expect_writers("1", "*::", 1);
    program.style_may_change();
  }
  const int result = test::finish();
  MPI_T_finalize();
  return result;
}
