// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace fulmar::layers {

namespace {

namespace fs = std::filesystem;

/// What settings may set: without a value of theirs each has its default.
constexpr std::array<std::string_view, 20> studied = {
    "FULMAR_RDMA_INLINE", "FULMAR_RDMA_FIN",   "FULMAR_CHANNEL",         "FULMAR_CHUNK_BYTES",
    "FULMAR_STACK",       "FULMAR_RDMA",       "FULMAR_RDMA_BYTES",      "FULMAR_EAGER_BYTES",
    "FULMAR_KEPT_MEMORY", "FULMAR_FABRIC",     "FULMAR_LONG_COPY",       "FULMAR_SHARE_BYTES",
    "FULMAR_TRACE",       "FULMAR_WAIT",       "FULMAR_PROGRESS_THREAD", "FULMAR_VERBS_QUEUES",
    "FULMAR_CHECK",       "FULMAR_RMA_DIRECT", "FULMAR_RMA_MERGE",       "FULMAR_RMA_INTERLEAVE"};

/// What the rounds found of one size of a test.
std::vector<measure::Point> points_of(const std::vector<measure::Results>& rounds,
                                      const measure::Series& of, std::size_t bytes) {
  std::vector<measure::Point> points;
  for (const measure::Results& round : rounds) {
    const auto* point = measure::find_point(measure::find_series(round, of.test, of.ranks), bytes);
    if (point != nullptr) {
      points.push_back(*point);
    }
  }
  return points;
}

/// Those of the first round that has any.
std::vector<measure::Count> counts_of(const std::vector<measure::Results>& rounds) {
  for (const measure::Results& round : rounds) {
    if (!round.counts.empty()) {
      return round.counts;
    }
  }
  return {};
}

double median_in(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double median_in(const std::vector<measure::Point>& points, double measure::Point::* figure) {
  std::vector<double> values;
  for (const measure::Point& point : points) {
    values.push_back(point.*figure);
  }
  return median_in(values);
}

measure::Point median_in(const std::vector<measure::Point>& points) {
  measure::Point median = points.front();
  median.median_ns = median_in(points, &measure::Point::median_ns);
  median.low_ns = median_in(points, &measure::Point::low_ns);
  median.high_ns = median_in(points, &measure::Point::high_ns);
  for (std::size_t i = 1; i < points.size(); ++i) {
    median.operations += points[i].operations;
    median.batches += points[i].batches;
  }
  return median;
}

int ranks_of(const Run& run, const Effort& effort) {
  switch (run.ranks) {
    case Run::Ranks::four:
      return 4;
    case Run::Ranks::six:
      return 6;
    case Run::Ranks::all:
      return effort.ranks;
    default:
      return 2;
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Scratch::Scratch() {
  std::string name = (fs::temp_directory_path() / "fulmar-layers-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) {
    folder_ = name;
  }
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::optional<Programs> find_programs() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return std::nullopt;
  }
  Programs programs{self.string(), (self.parent_path() / "mpiexec").string(), ""};
  const fs::path raw = self.parent_path() / "fulmar-raw";
  if (fs::exists(raw, error)) {
    programs.raw = raw.string();
  }
  return programs;
}

std::vector<std::string> environment_with(const Environment& settings) {
  std::vector<std::string> words;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string word = *at;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(studied.begin(), studied.end(), name) == studied.end()) {
      words.push_back(word);
    }
  }
  for (const auto& [name, value] : settings) {
    words.push_back(name + "=" + value);
  }
  return words;
}

int run_program(std::vector<std::string> words, std::vector<std::string> environment,
                const std::string& output) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, S_IRUSR | S_IWUSR);
  pid_t child = 0;
  const int problem = posix_spawn(&child, words.front().c_str(), &files, nullptr,
                                  pointers_to(words).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) {
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void add_results(measure::Results& all, const measure::Results& more) {
  for (const measure::Series& from : more.series) {
    auto& points = measure::series_of(all, from.test, from.ranks).points;
    points.insert(points.end(), from.points.begin(), from.points.end());
    const auto smaller = [](const auto& a, const auto& b) { return a.bytes < b.bytes; };
    const auto equal = [](const auto& a, const auto& b) { return a.bytes == b.bytes; };
    std::stable_sort(points.begin(), points.end(), smaller);
    points.erase(std::unique(points.begin(), points.end(), equal), points.end());
  }
  all.counts.insert(all.counts.end(), more.counts.begin(), more.counts.end());
}

measure::Results median_of(const std::vector<measure::Results>& rounds) {
  measure::Results all = rounds.front();
  for (const measure::Results& round : rounds) {
    add_results(all, round);  // every test and size that any round has
  }
  all.counts = counts_of(rounds);
  for (measure::Series& series : all.series) {
    for (measure::Point& point : series.points) {
      point = median_in(points_of(rounds, series, point.bytes));
    }
  }
  return all;
}

std::vector<std::string> command_of(const Run& run, const Programs& programs, const Effort& effort,
                                    const std::string& file) {
  if (run.joins != Run::Joins::no) {
    const char* call = run.joins == Run::Joins::between ? "between" : "beside";
    return {
        programs.mpiexec, "-n",     "2",  programs.self,    "bench",
        "joining",        "--call", call, "--milliseconds", fmt::format("{}", effort.milliseconds),
        "--json",         file};
  }
  std::vector<std::string> words{programs.mpiexec, "-n", std::to_string(ranks_of(run, effort)),
                                 programs.self, "bench"};
  words.insert(words.end(), run.tests.begin(), run.tests.end());
  std::string sizes;
  for (const std::size_t bytes : run.sizes) {
    if (bytes <= effort.largest) {
      sizes += (sizes.empty() ? "" : ",") + std::to_string(bytes);
    }
  }
  words.insert(words.end(),
               {"--sizes", sizes, "--milliseconds", fmt::format("{}", effort.milliseconds)});
  words.insert(words.end(), {"--json", file});
  if (run.counted == Run::Counted::yes) {
    for (const CountedSize& size : counted_sizes()) {
      words.insert(words.end(), {"--counts", std::to_string(size.bytes)});
    }
  }
  return words;
}

}  // namespace fulmar::layers
