// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/version.h"
#include "fulmar/bench/bench.h"
#include "fulmar/doctor/doctor.h"
#include "fulmar/files.h"
#include "fulmar/info/files.h"
#include "fulmar/info/info.h"
#include "fulmar/info/peers.h"
#include "fulmar/info/windows.h"
#include "fulmar/joining/joining.h"
#include "fulmar/layers/layers.h"
#include "fulmar/names/names.h"
#include "fulmar/report/page.h"
#include "fulmar/trace/trace.h"

namespace {

using fulmar::measure::Kind;

struct BenchArguments {
  fulmar::bench::Options options;
  std::vector<std::string> tests{"all"};
  double milliseconds = 0;
  bool quick = false;
};

struct LayersArguments {
  fulmar::layers::Options options;
  int rounds = 0;  ///< 0: as many as --quick says
  bool quick = false;
};

struct ReportArguments {
  std::string html;
  std::vector<std::string> files;
};

struct InfoArguments {
  bool api = false;
  bool names = false;
  bool variables = false;
  bool peers = false;
  bool windows = false;
  std::string files;
};

CLI::App* add_bench(CLI::App& app, BenchArguments& arguments) {
  auto* command = app.add_subcommand(
      "bench",
      "Measures messages and collectives; starts itself on 2 ranks unless mpiexec started it");
  auto& options = arguments.options;
  std::vector<std::string> names = fulmar::measure::test_names();
  names.emplace_back("all");
  command
      ->add_option(
          "tests", arguments.tests,
          "names of tests (see docs/benchmarks.md), or all: latency bandwidth bibw barrier "
          "allreduce")
      ->check(CLI::IsMember(names));
  command->add_option("-n,--ranks", options.ranks, "ranks to start when not under mpiexec (2)")
      ->check(CLI::Range(2, 4096));
  command->add_option("--sizes", options.plan.sizes, "message sizes in bytes, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  command
      ->add_option("--offset", options.plan.offset,
                   "bytes from the start of a page to each buffer (0; those of malloc: 16)")
      ->check(CLI::Range(0, 4095));
  command
      ->add_option("--milliseconds", arguments.milliseconds,
                   "time for one figure (150; 20 with --quick)")
      ->check(CLI::Range(1.0, 60e3));
  command
      ->add_option("--first", options.plan.budget.first_calls,
                   "time so many calls of each size after 10 others, once, instead of many batches")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--quick", arguments.quick, "less time, less certainty");
  command->add_option("--json", options.json, "write the figures to this file");
  command->add_option("--html", options.html, "draw a report into this file");
  command
      ->add_option("--compare", options.compare,
                   "result file of another run or library; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--label", options.label, "name of this run in tables and pictures");
  command->add_option("--commit", options.commit, "commit that is measured, for the report");
  command
      ->add_option("--counts", options.counts,
                   "count what FULMAR_CHANNEL does for messages of so many bytes, into --json")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 30));
  return command;
}

CLI::App* add_layers(CLI::App& bench, LayersArguments& arguments) {
  auto* command = bench.add_subcommand(
      "layers",
      "The papers' experiments: channel designs, stacks, patterns, RDMA with and without kept "
      "memory; draws a page that says what the papers found and whether it holds on this machine");
  command->add_option("--html", arguments.options.html, "the page to write (layers.html)");
  command
      ->add_option("--milliseconds", arguments.options.milliseconds,
                   "time for one figure in one round (20; 5 with --quick, and no message above "
                   "1 MiB)")
      ->check(CLI::Range(1.0, 60e3));
  command
      ->add_option("--rounds", arguments.rounds,
                   "measure all settings in turn so often; figures are medians, and verdicts need "
                   "three (5; 1 "
                   "with --quick)")
      ->check(CLI::Range(1, 1000));
  command->add_option("-n,--ranks", arguments.options.ranks, "ranks of rings (one a core, 4 to 16)")
      ->check(CLI::Range(2, 4096));
  command
      ->add_option("--networks", arguments.options.networks,
                   "what to measure over: shm, verbs, or both, comma-separated (what there is)")
      ->delimiter(',')
      ->check(CLI::IsMember({"shm", "verbs"}));
  command->add_option("--nas", arguments.options.nas.path,
                      "the folder with programs of the NAS Parallel Benchmarks (is.A.x and so on)");
  command->add_option("--nas-few", arguments.options.nas.few, "their class on 4 ranks (A)");
  command->add_option("--nas-many", arguments.options.nas.many, "their class on 8 ranks (B)");
  command->add_flag("--quick", arguments.quick, "less time, less certainty");
  command
      ->add_option("--seconds", arguments.options.seconds,
                   "begin nothing more after so many seconds, and draw what there is (no limit)")
      ->check(CLI::Range(1.0, 1e6));
  return command;
}

CLI::App* add_joining(CLI::App& bench, fulmar::joining::Options& options) {
  using Call = fulmar::joining::Options::Call;
  auto* command = bench.add_subcommand(
      "joining",
      "Two ranks exchange messages while a third one joins and leaves: the gaps that they see");
  command
      ->add_option("--call", options.call,
                   "who spawns and disconnects: the ranks, between two steps of the exchange, or a "
                   "thread beside it (beside)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Call>{{"between", Call::between}, {"beside", Call::beside}}));
  command->add_option("--times", options.times, "how often it joins and leaves (5)")
      ->check(CLI::Range(1, 10000));
  command
      ->add_option("--milliseconds", options.milliseconds,
                   "time of exchange before, together and afterwards (10)")
      ->check(CLI::Range(1.0, 1e3));
  command->add_option("--json", options.json, "write the figures to this file");
  return command;
}

int layers(LayersArguments& arguments) {
  constexpr double quick_ms = 5;
  constexpr std::size_t quick_largest = std::size_t{1} << 20;  // verdicts use 1 MiB
  if (arguments.quick) {
    arguments.options.milliseconds = quick_ms;
    arguments.options.largest = quick_largest;
    arguments.options.rounds = 1;
  }
  if (arguments.rounds > 0) {
    arguments.options.rounds = arguments.rounds;
  }
  return fulmar::layers::run(arguments.options);
}

CLI::App* add_report(CLI::App& app, ReportArguments& arguments) {
  auto* command =
      app.add_subcommand("report", "Draws result files of fulmar bench, the first as the subject");
  command->add_option("--html", arguments.html, "the page to write")->required();
  command->add_option("files", arguments.files, "result files")->required();
  return command;
}

CLI::App* add_trace(CLI::App& app, fulmar::trace::Options& options) {
  auto* command = app.add_subcommand(
      "trace", "Shows what a job did that ran with FULMAR_TRACE=FOLDER: the tree of its calls");
  command->add_option("folder", options.folder, "the folder")->required();
  command->add_option("--html", options.html, "also draw a page");
  command->add_option("--chrome", options.chrome,
                      "also write a timeline, for chrome://tracing and its like");
  return command;
}

CLI::App* add_doctor(CLI::App& app, bool& as_json) {
  auto* command = app.add_subcommand(
      "doctor",
      "Tests this machine and says what to change; exit code 1 if something is in the way");
  command->add_flag("--json", as_json, "print the findings as JSON");
  return command;
}

CLI::App* add_names(CLI::App& app, fulmar::names::Options& options) {
  auto* command = app.add_subcommand(
      "names", "A server of MPI_Publish_name for jobs without a launcher in common (FULMAR_NAMES)");
  command->add_option("--key", options.key_file, "file with the key; made if it is not there")
      ->required();
  command->add_option("--host", options.host, "address to listen on (all of this host)");
  options.port = "0";
  command->add_option("--port", options.port, "port to listen on (one that is free)")
      ->check(CLI::Range(0, 65535));
  return command;
}

CLI::App* add_info(CLI::App& app, InfoArguments& arguments) {
  auto* command = app.add_subcommand("info", "Version, options, and what of MPI 5.0 works");
  command->add_flag("--api", arguments.api,
                    "only the functions of each chapter of the standard, with counts");
  command->add_flag("--variables", arguments.variables,
                    "only the variables and events that MPI_T tells of");
  command->add_flag("--peers", arguments.peers,
                    "in a job (mpiexec -n 4 fulmar info --peers): what carries messages to whom");
  command->add_flag("--windows", arguments.windows,
                    "in a job (mpiexec -n 4 fulmar info --windows): how one-sided operations reach "
                    "other ranks, and what carries out accumulates");
  command->add_option("--files", arguments.files,
                      "only what file functions make of this file or folder: its file system and "
                      "what follows from it, and the hints in effect");
  command->add_flag("--names", arguments.names, "with --api: name every function that is missing");
  return command;
}

int bench(BenchArguments& arguments, int argc, char** argv) {
  constexpr double ns_per_ms = 1e6;
  constexpr double quick_ms = 20;
  for (const std::string& name : arguments.tests) {
    if (name == "all") {
      arguments.options.plan.tests = {Kind::latency, Kind::bandwidth, Kind::bibw, Kind::barrier,
                                      Kind::allreduce};
      break;
    }
    arguments.options.plan.tests.push_back(*fulmar::measure::test_from(name));
  }
  if (arguments.milliseconds > 0 || arguments.quick) {
    const double wanted = arguments.milliseconds > 0 ? arguments.milliseconds : quick_ms;
    arguments.options.plan.budget.point_ns = wanted * ns_per_ms;
    // Long windows of a slow setting would take a hundred times as long as was asked for.
    constexpr double hasty_ms = 10;
    if (wanted < hasty_ms) {
      arguments.options.plan.budget.least_batches = 3;
    }
  }
  return fulmar::bench::run(arguments.options, std::vector<std::string>(argv + 1, argv + argc));
}

int report(const ReportArguments& arguments) {
  std::string problem;
  const auto files = fulmar::read_all_results(arguments.files, problem);
  if (files) {
    problem = fulmar::write_file(arguments.html, fulmar::report::page(*files));
  }
  if (!problem.empty()) {
    std::fprintf(stderr, "fulmar report: %s\n", problem.c_str());
    return 1;
  }
  std::printf("%s\n", arguments.html.c_str());
  return 0;
}

int info(const InfoArguments& arguments) {
  using fulmar::info::Part;
  if (!arguments.files.empty()) {
    return fulmar::info::show_files(arguments.files);
  }
  if (arguments.peers) {
    return fulmar::info::show_peers();
  }
  if (arguments.windows) {
    return fulmar::info::show_windows();
  }
  if (arguments.variables) {
    return fulmar::info::run(Part::variables);
  }
  if (arguments.names) {
    return fulmar::info::run(Part::api_names);
  }
  return fulmar::info::run(arguments.api ? Part::api : Part::summary);
}

/// CLI11 reports a missing subcommand before it reports the unknown word in its place.
CLI::ParseError say_unknown(const CLI::App& app, const CLI::ParseError& found) {
  const std::vector<std::string> words = app.remaining();
  if (dynamic_cast<const CLI::RequiredError*>(&found) == nullptr || words.empty()) return found;
  std::string names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  const std::string kind = words[0].starts_with('-') ? "option" : "subcommand";
  return {"there is no " + kind + " \"" + words[0] + "\"; a subcommand is one of " + names,
          CLI::ExitCodes::ExtrasError};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The tool of the Fulmar MPI library", "fulmar");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Prints this help");
  app.set_version_flag("--version", std::string("fulmar (Fulmar) ") + fulmar::base::version,
                       "Prints the version");
  BenchArguments bench_arguments;
  ReportArguments report_arguments;
  InfoArguments info_arguments;
  fulmar::trace::Options trace_options;
  bool doctor_as_json = false;
  auto* bench_command = add_bench(app, bench_arguments);
  LayersArguments layers_arguments;
  const auto* layers_command = add_layers(*bench_command, layers_arguments);
  fulmar::joining::Options joining_options;
  const auto* joining_command = add_joining(*bench_command, joining_options);
  const auto* report_command = add_report(app, report_arguments);
  const auto* doctor_command = add_doctor(app, doctor_as_json);
  add_info(app, info_arguments);
  fulmar::names::Options names_options;
  const auto* names_command = add_names(app, names_options);
  const auto* trace_command = add_trace(app, trace_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& found) {
    return app.exit(say_unknown(app, found));
  }
  if (layers_command->parsed()) {
    layers_arguments.options.command = "fulmar";
    for (const char* word : std::vector<const char*>(argv + 1, argv + argc)) {
      layers_arguments.options.command += std::string(" ") + word;
    }
    return layers(layers_arguments);
  }
  if (joining_command->parsed()) {
    return fulmar::joining::run(joining_options, std::vector<std::string>(argv + 1, argv + argc));
  }
  if (bench_command->parsed()) {
    return bench(bench_arguments, argc, argv);
  }
  if (names_command->parsed()) {
    return fulmar::names::run(names_options);
  }
  if (trace_command->parsed()) {
    return fulmar::trace::run(trace_options);
  }
  if (doctor_command->parsed()) {
    using fulmar::doctor::Form;
    return fulmar::doctor::run(doctor_as_json ? Form::json : Form::text);
  }
  return report_command->parsed() ? report(report_arguments) : info(info_arguments);
}
