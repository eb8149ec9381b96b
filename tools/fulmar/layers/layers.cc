// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/layers.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "fulmar/files.h"
#include "fulmar/layers/jobs.h"
#include "fulmar/layers/page.h"
#include "fulmar/layers/probe.h"
#include "fulmar/layers/study.h"
#include "fulmar/rdma/devices.h"
#include "fulmar/trace/trace.h"

namespace fulmar::layers {

namespace {

constexpr int least_ring_ranks = 4;
constexpr int most_ring_ranks = 16;

/// What all jobs of one study need.
struct Bench {
  Options options;
  Programs programs;
  Scratch scratch;
  Effort effort;
};

void say(const std::string& text) {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What a study has found so far.
struct Findings {
  std::map<std::string, std::vector<Round>> rounds;  ///< by the name of the setting
  std::vector<double> probes_ns;
  std::vector<std::string> left_out;
};

int usable_cores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof cores, &cores) == 0
             ? CPU_COUNT(&cores)
             : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

int ring_ranks(const Options& options) {
  return options.ranks > 0 ? options.ranks
                           : std::clamp(usable_cores(), least_ring_ranks, most_ring_ranks);
}

/// What one job found; nothing where it failed.
std::optional<measure::Results> results_of(const Run& run, const Setting& setting,
                                           const Bench& bench) {
  const std::string file = bench.scratch.path(setting.name + ".json");
  const auto words = command_of(run, bench.programs, bench.effort, file);
  if (run_program(words, environment_with(setting.environment)) != 0) {
    return std::nullopt;
  }
  std::string problem;
  return read_results(file, problem);
}

/// What an application took, where its program is there; said where it failed.
void measure_application(const Application& application, const Setting& setting, const Bench& bench,
                         measure::Results& results) {
  const std::string program = bench.options.nas.file_of(application);
  std::error_code error;
  if (!std::filesystem::exists(program, error)) {
    return;
  }
  const std::string output = bench.scratch.path("application.txt");
  const int status =
      run_program({bench.programs.mpiexec, "-n", std::to_string(application.ranks), program},
                  environment_with(setting.environment), output);
  const auto seconds = status == 0 ? seconds_of(text_of(output)) : std::nullopt;
  if (!seconds) {
    say(fmt::format("   {} on {} ranks failed, left out", program, application.ranks));
    return;
  }
  constexpr double ns_a_second = 1e9;
  const double ns = *seconds * ns_a_second;
  measure::series_of(results, test_of(application), application.ranks).points = {
      {0, ns, ns, ns, 1, 1}};
}

/// All jobs of a setting: different tests ask for different sizes.
std::optional<measure::Results> measure_setting(const Setting& setting, const Bench& bench) {
  std::optional<measure::Results> all;
  for (const Run& run : setting.runs) {
    auto results = results_of(run, setting, bench);
    if (!results) {
      return std::nullopt;
    }
    if (!all) {
      all = std::move(results);
      continue;
    }
    add_results(*all, *results);
  }
  for (const Application& application : setting.applications) {
    measure_application(application, setting, bench, *all);
  }
  return all;
}

/// Said, and kept for the page; once.
void leave_out(Findings& findings, const std::string& what) {
  say(what);
  auto& all = findings.left_out;
  if (std::find(all.begin(), all.end(), what) == all.end()) all.push_back(what);
}

/// Keeps what `measure()` finds, with the probe of the machine before and after it. False: it found nothing.
template <class Measure>
bool keep_round(Findings& findings, const std::string& name, Measure measure) {
  const double before = probe_line_ns();
  auto results = measure();
  const double after = probe_line_ns();
  findings.probes_ns.insert(findings.probes_ns.end(), {before, after});
  if (results) findings.rounds[name].push_back({std::move(*results), std::max(before, after)});
  return results.has_value();
}

/// `tests`: of fulmar-raw; `name`: of what they found.
void measure_raw(const Bench& bench, const char* name, const char* tests, Findings& findings) {
  if (bench.programs.raw.empty()) {
    leave_out(findings, "the bare machine: fulmar-raw is not beside this program");
    return;
  }
  say(std::string("the bare machine: ") + tests);
  const std::string file = bench.scratch.path("raw.json");
  const std::vector<std::string> words{bench.programs.raw,
                                       "--tests",
                                       tests,
                                       "--milliseconds",
                                       fmt::format("{}", bench.effort.milliseconds),
                                       "--json",
                                       file};
  const bool done = keep_round(findings, name, [&]() -> std::optional<measure::Results> {
    std::string problem;
    if (run_program(words, environment_with({})) != 0) return std::nullopt;
    return read_results(file, problem);
  });
  if (!done) leave_out(findings, std::string("the bare machine: fulmar-raw failed with ") + tests);
}

const char* name_of(Network network) { return network == Network::shm ? "shm" : "verbs"; }

bool has_adapter() {
  const std::vector<rdma::Device> devices = rdma::find_devices();
  return std::any_of(devices.begin(), devices.end(), [](const rdma::Device& device) {
    return std::any_of(device.ports.begin(), device.ports.end(), [](const rdma::Port& port) {
      return port.state == rdma::Port::State::active;
    });
  });
}

/// Those that were asked for, or that this host has.
template <class Item>
std::vector<Item> chosen(std::vector<Item> all, const Options& options) {
  const auto& wanted = options.networks;
  const bool adapter = !wanted.empty() || has_adapter();
  std::erase_if(all, [&](const Item& item) {
    const char* name = name_of(item.network);
    return wanted.empty() ? item.network == Network::verbs && !adapter
                          : std::find(wanted.begin(), wanted.end(), name) == wanted.end();
  });
  return all;
}

/// Since the study began.
class Stopwatch {
 public:
  [[nodiscard]] bool is_over(const Options& options) const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    return options.seconds > 0 && passed.count() > options.seconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void measure_bare(const Bench& bench, const std::vector<Setting>& wanted, Findings& findings) {
  const auto uses = [&](Network network) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const Setting& setting) { return setting.network == network; });
  };
  if (uses(Network::shm)) {
    measure_raw(bench, "raw", "raw-ring,raw-ring-stream,raw-pipe-stream", findings);
  }
  if (uses(Network::verbs)) {
    measure_raw(bench, "raw-verbs", "raw-verbs,raw-verbs-write,raw-verbs-read", findings);
  }
}

/// Every setting once; false where the time was over before.
bool measure_round(const Bench& bench, const std::vector<Setting>& wanted, const Stopwatch& watch,
                   Findings& findings) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (watch.is_over(bench.options)) {
      leave_out(findings, fmt::format("the time was over: the last round is without {} settings",
                                      wanted.size() - i));
      return false;
    }
    std::string how;
    for (const auto& [name, value] : wanted[i].environment) {
      how += " " + name + "=" + value;
    }
    say(fmt::format("{:>2} of {} {}:{}", i + 1, wanted.size(), wanted[i].label, how));
    if (!keep_round(findings, wanted[i].name, [&] { return measure_setting(wanted[i], bench); })) {
      leave_out(findings, "failed: " + wanted[i].label + how);
    }
  }
  return true;
}

Findings measure_all(const Bench& bench, const Stopwatch& watch) {
  const std::vector<Setting> wanted = chosen(settings(), bench.options);
  Findings findings;
  if (bench.options.networks.empty() && !has_adapter()) {
    leave_out(findings, "no RDMA adapter with an active port: the figures over verbs");
  }
  if (const std::string lacking = bench.options.nas.lacking(); !lacking.empty()) {
    leave_out(findings, "programs of NAS: " + lacking);
  }
  for (int round = 1; round <= bench.options.rounds; ++round) {
    if (bench.options.rounds > 1) {
      say(fmt::format("round {} of {}", round, bench.options.rounds));
    }
    measure_bare(bench, wanted, findings);
    if (!measure_round(bench, wanted, watch, findings)) {
      break;
    }
  }
  return findings;
}

/// The rounds that count, and their medians.
Measured evaluate(const Findings& findings, Circumstances& circumstances) {
  circumstances.probes = probes_of(findings.probes_ns);
  Measured measured;
  for (const auto& [name, rounds] : findings.rounds) {
    std::vector<measure::Results> kept = quiet_rounds(rounds, circumstances.probes.limit_ns());
    circumstances.disturbed += rounds.size() - kept.size();
    Sample sample(median_of(kept));
    sample.rounds = std::move(kept);
    measured.emplace(name, std::move(sample));
  }
  return measured;
}

/// Messages that are traced: few, so that the ring holds them all.
void trace_all(const Bench& bench, const Stopwatch& watch, Trees& trees, Findings& findings) {
  Effort effort = bench.effort;
  effort.milliseconds = 1;
  effort.largest = SIZE_MAX;
  for (const Traced& run : chosen(traced_runs(), bench.options)) {
    if (watch.is_over(bench.options)) {
      leave_out(findings, "the time was over: calls and stages");
      return;
    }
    say("calls and stages: " + run.title);
    const std::string folder = bench.scratch.path("trace-" + run.name);
    Environment environment = run.environment;
    environment.emplace_back("FULMAR_TRACE", folder);
    const auto words = command_of({{run.test}, {run.bytes}}, bench.programs, effort,
                                  bench.scratch.path("trace.json"));
    std::string problem;
    const bool done = run_program(words, environment_with(environment)) == 0;
    const auto traces = done ? trace::read_folder(folder, problem) : std::nullopt;
    if (!traces) {
      leave_out(findings, "failed: " + run.title + (problem.empty() ? "" : ": " + problem));
      continue;
    }
    for (const wire::TraceFile& file : *traces) {
      merge(trees[run.name], trace::tree_of(file));
    }
  }
}

}  // namespace

int run(const Options& options) {
  const auto programs = find_programs();
  const Effort effort{options.milliseconds, options.largest, ring_ranks(options)};
  const Bench bench{options, programs.value_or(Programs{}), {}, effort};
  if (!programs || !bench.scratch.good()) {
    fmt::print(stderr, "fulmar bench layers: no folder for results in {}, or no /proc\n",
               std::filesystem::temp_directory_path().string());
    return 1;
  }
  const Stopwatch watch;
  Findings findings = measure_all(bench, watch);
  Trees trees;
  trace_all(bench, watch, trees, findings);
  Circumstances circumstances{.command = options.command,
                              .rounds = options.rounds,
                              .ranks = effort.ranks,
                              .cores = usable_cores(),
                              .probes = {},
                              .disturbed = 0,
                              .left_out = findings.left_out,
                              .no_applications = options.nas.lacking()};
  const Measured measured = evaluate(findings, circumstances);
  if (measured.empty()) {
    fmt::print(stderr, "fulmar bench layers: nothing could be measured with {}\n",
               programs->mpiexec);
    return 1;
  }
  const std::string problem = write_file(options.html, page(measured, trees, circumstances));
  if (!problem.empty()) {
    fmt::print(stderr, "fulmar bench layers: {}\n", problem);
    return 1;
  }
  say("\n" + summary(measured, trees, circumstances) + "\n" + options.html);
  return 0;
}

}  // namespace fulmar::layers
