// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/layers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include "fulmar/files.h"
#include "fulmar/layers/page.h"
#include "fulmar/layers/study.h"

namespace fulmar::layers {

namespace {

namespace fs = std::filesystem;

constexpr const char* latency_sizes = "1,8,64,256,1024,4096";
constexpr const char* bandwidth_sizes =
    "64,1024,4096,16384,32768,65536,131072,262144,524288,1048576,4194304";

/// A folder for result files that goes with the object.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "fulmar-layers-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) {
      folder_ = name;
    }
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] bool good() const { return !folder_.empty(); }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_ / (name + ".json")).string();
  }

 private:
  fs::path folder_;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// The environment with these values, and without other settings of the study.
std::vector<std::string> environment_with(const Setting& setting) {
  std::vector<std::string> words;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string word = *at;
    const std::string name = word.substr(0, word.find('='));
    if (name != "FULMAR_CHANNEL" && name != "FULMAR_CHUNK_BYTES" && name != "FULMAR_STACK" &&
        name != "FULMAR_RDMA") {
      words.push_back(word);
    }
  }
  for (const auto& [name, value] : setting.environment) {
    words.push_back(name + "=" + value);
  }
  return words;
}

/// Runs a program without its output; its exit code, or -1.
int run_program(std::vector<std::string> words, std::vector<std::string> environment) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
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

struct Programs {
  std::string self;
  std::string mpiexec;
  std::string raw;  ///< empty: not installed
};

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

std::vector<std::string> command(const Programs& programs, const char* tests, const char* sizes,
                                 const Options& options, const std::string& file) {
  std::vector<std::string> words{programs.mpiexec, "-n", "2", programs.self, "bench"};
  std::string rest = tests;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  for (const std::string& word :
       {std::string("--sizes"), std::string(sizes), std::string("--milliseconds"),
        fmt::format("{}", options.milliseconds), std::string("--json"), file}) {
    words.push_back(word);
  }
  return words;
}

/// Measures one setting: two jobs, because latency and bandwidth ask for different sizes.
std::optional<measure::Results> measure_setting(const Setting& setting, const Programs& programs,
                                                const Options& options, const Scratch& scratch) {
  const std::vector<std::string> environment = environment_with(setting);
  std::string problem;
  std::optional<measure::Results> all;
  if (!setting.only_bandwidth) {
    const std::string file = scratch.file(setting.name + "-latency");
    auto words = command(programs, "latency", latency_sizes, options, file);
    for (const CountedSize& size : counted_sizes()) {
      words.push_back("--counts");
      words.push_back(std::to_string(size.bytes));
    }
    if (run_program(words, environment) != 0) {
      return std::nullopt;
    }
    all = read_results(file, problem);
  }
  const std::string file = scratch.file(setting.name);
  const char* tests = setting.only_bandwidth ? "bandwidth" : "bandwidth bibw";
  if (run_program(command(programs, tests, bandwidth_sizes, options, file), environment) != 0) {
    return std::nullopt;
  }
  auto results = read_results(file, problem);
  if (!results || (!setting.only_bandwidth && !all)) {
    return std::nullopt;
  }
  if (all) {
    results->series.insert(results->series.end(), all->series.begin(), all->series.end());
    results->counts = all->counts;
  }
  return results;
}

void say(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void measure_raw(const Programs& programs, const Scratch& scratch, Measured& measured) {
  if (programs.raw.empty()) {
    say("the bare machine: fulmar-raw is not beside this program, left out");
    return;
  }
  say("the bare machine");
  const std::string file = scratch.file("raw");
  std::string problem;
  if (run_program(
          {programs.raw, "--tests", "raw-ring,raw-ring-stream,raw-pipe-stream", "--json", file},
          environment_with({})) == 0) {
    if (auto results = read_results(file, problem)) {
      measured["raw"] = std::move(*results);
    }
  }
}

}  // namespace

int run(const Options& options) {
  const auto programs = find_programs();
  const Scratch scratch;
  if (!programs || !scratch.good()) {
    fmt::print(stderr, "fulmar bench layers: no folder for results in {}, or no /proc\n",
               fs::temp_directory_path().string());
    return 1;
  }
  Measured measured;
  measure_raw(*programs, scratch, measured);
  const std::vector<Setting> all = settings();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string how;
    for (const auto& [name, value] : all[i].environment) {
      how += " " + name + "=" + value;
    }
    say(fmt::format("{:>2} of {} {}:{}", i + 1, all.size(), all[i].label, how));
    if (auto results = measure_setting(all[i], *programs, options, scratch)) {
      measured[all[i].name] = std::move(*results);
    } else {
      say("   failed, left out");
    }
  }
  if (measured.empty()) {
    fmt::print(stderr, "fulmar bench layers: nothing could be measured with {}\n",
               programs->mpiexec);
    return 1;
  }
  const std::string problem = write_file(options.html, page(measured));
  if (!problem.empty()) {
    fmt::print(stderr, "fulmar bench layers: {}\n", problem);
    return 1;
  }
  say("\n" + summary(measured) + "\n" + options.html);
  return 0;
}

}  // namespace fulmar::layers
