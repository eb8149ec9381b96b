// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/joining/joining.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

#include "fulmar/bench/restart.h"
#include "fulmar/files.h"
#include "fulmar/joining/exchange.h"
#include "fulmar/joining/record.h"
#include "fulmar/measure/batches.h"
#include "fulmar/measure/json.h"
#include "fulmar/measure/plan.h"
#include "fulmar/report/chart.h"

namespace fulmar::joining {

namespace {

/// Room for the steps of a phase, so that none of them waits for memory.
constexpr std::size_t usual_steps = std::size_t{1} << 19;

int complain(const std::string& text) {
  fmt::print(stderr, "fulmar bench joining: {}\n", text);
  return 1;
}

/// The two ranks' way to the third.
struct Guest {
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Comm together = MPI_COMM_NULL;

  void join(MPI_Comm hosts, const std::string& program) {
    std::array<char*, 3> words{const_cast<char*>("bench"), const_cast<char*>("joining"), nullptr};
    MPI_Comm_spawn(program.c_str(), words.data(), 1, MPI_INFO_NULL, 0, hosts, &between,
                   MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, 0, &together);
  }
  void leave() {
    MPI_Comm_disconnect(&together);
    MPI_Comm_disconnect(&between);
  }
};

/// Calls something in a thread, or at once, and tells when it has returned.
class Task {
 public:
  template <class Function>
  Task(Options::Call call, Function function) {
    if (call == Options::Call::between) {
      function();
      ready_ = true;
      return;
    }
    thread_.emplace([this, function] {
      function();
      ready_.store(true, std::memory_order_release);
    });
  }
  ~Task() {
    if (thread_) thread_->join();
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  [[nodiscard]] Until end() const { return {0, &ready_}; }

 private:
  std::atomic<bool> ready_ = false;
  std::optional<std::thread> thread_;
};

/// A rank joins and leaves once.
Record measure_once(const Options& options, MPI_Comm hosts, const std::string& program) {
  constexpr double ns_per_ms = 1e6;
  const Until a_while{options.milliseconds * ns_per_ms};
  Record record;
  for (std::vector<double>& ends : record.ends_ns) {
    ends.resize(usual_steps);  // touches the memory
    ends.clear();
  }
  const auto ends_of = [&](Phase phase) -> std::vector<double>& {
    return record.ends_ns[static_cast<std::size_t>(phase)];
  };
  Guest guest;
  MPI_Barrier(MPI_COMM_WORLD);
  record.begin_ns = measure::now_ns();
  exchange(MPI_COMM_WORLD, a_while, ends_of(Phase::before));
  {
    const Task joining(options.call, [&] { guest.join(hosts, program); });
    exchange(MPI_COMM_WORLD, joining.end(), ends_of(Phase::joining));
  }
  exchange(guest.together, a_while, ends_of(Phase::together));
  {
    const Task leaving(options.call, [&] { guest.leave(); });
    exchange(MPI_COMM_WORLD, leaving.end(), ends_of(Phase::leaving));
  }
  exchange(MPI_COMM_WORLD, a_while, ends_of(Phase::after));
  return record;
}

void print(const measure::Results& results) {
  for (const measure::Series& series : results.series) {
    const measure::Point& point = series.points.front();
    constexpr double ns_per_us = 1e3;
    fmt::print("{:<14} {:>9} us ({} to {})\n", series.test,
               report::short_number(point.median_ns / ns_per_us),
               report::short_number(point.low_ns / ns_per_us),
               report::short_number(point.high_ns / ns_per_us));
  }
}

int lead(const Options& options, const std::vector<Record>& records) {
  measure::Results results;
  measure::describe_machine(results);
  measure::describe_library(results);
  results.series = series_of(records);
  results.timelines = {timeline_of(middle_of(records))};
  print(results);
  const std::string problem =
      options.json.empty() ? "" : write_file(options.json, measure::to_json(results));
  return problem.empty() ? 0 : complain(problem);
}

/// What the spawned process does.
void be_guest(MPI_Comm parent) {
  Guest guest{parent, MPI_COMM_NULL};
  MPI_Intercomm_merge(guest.between, 1, &guest.together);
  std::vector<double> ends_ns;
  ends_ns.reserve(usual_steps);
  exchange(guest.together, {}, ends_ns);
  guest.leave();
}

/// The two ranks that were there before.
int be_host(const Options& options) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (ranks != 2 || error) {
    const std::string why = error ? "/proc/self/exe: " + error.message()
                                  : fmt::format("needs 2 ranks, and there are {}", ranks);
    const int code = rank == 0 ? complain(why) : 1;
    MPI_Barrier(MPI_COMM_WORLD);  // the first rank that has failed ends the others
    return code;
  }
  MPI_Comm hosts = MPI_COMM_NULL;  // the exchange has MPI_COMM_WORLD
  MPI_Comm_dup(MPI_COMM_WORLD, &hosts);
  std::vector<Record> records;
  for (int i = 0; i < options.times; ++i) {
    records.push_back(measure_once(options, hosts, self.string()));
  }
  MPI_Comm_free(&hosts);
  return rank == 0 ? lead(options, records) : 0;
}

}  // namespace

int run(const Options& options, const std::vector<std::string>& arguments) {
  if (!bench::started_by_launcher()) return complain(bench::restart(2, arguments));
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  int code = 0;
  if (parent != MPI_COMM_NULL) {
    be_guest(parent);
  } else if (provided < MPI_THREAD_MULTIPLE) {
    code = complain("needs MPI_THREAD_MULTIPLE");
  } else {
    code = be_host(options);
  }
  MPI_Finalize();
  return code;
}

}  // namespace fulmar::joining
