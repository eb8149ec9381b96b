// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/spawned_job.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "mpiexec/hosts.h"
#include "wire/launch/spawn_info.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::SpawnInfo;

constexpr auto class_of_unstarted = static_cast<std::int32_t>(ErrorClass::spawn);

/// Info keys that mean the same as an option of the command line.
struct KeyOption {
  std::string_view key;
  const char* option;
};
constexpr std::array key_options = {
    KeyOption{"wdir", "-wdir"},         KeyOption{"path", "-path"},
    KeyOption{"host", "-host"},         KeyOption{"add-host", "-host"},
    KeyOption{"hostfile", "-hostfile"}, KeyOption{"add-hostfile", "-hostfile"},
    KeyOption{"bind-to", "-bind-to"},   KeyOption{"map-by", "-map-by"},
    KeyOption{"arch", "-arch"},
};

/// Adds a program to the command line, whose name and arguments are put in place of a word after it
/// was parsed: real ones may equal the separator of programs.
void add_words(std::vector<std::string>& words, const SpawnInfo& info, const std::string& folder,
               std::uint32_t count) {
  if (!words.empty()) words.emplace_back(":");
  words.emplace_back("-n");
  words.push_back(std::to_string(count));
  for (const KeyOption& row : key_options) {
    const auto value = wire::info_value(info, row.key);
    if (!value) continue;
    const bool is_file = row.key.ends_with("hostfile");
    words.emplace_back(row.option);
    words.push_back(is_file ? wire::from_folder(folder, *value) : *value);
  }
  words.emplace_back("program");
}

Error refuse_other_hosts(const Options& options) {
  const std::string self = own_host_name();
  for (const Host& host : options.hosts) {
    if (is_this_machine(host.name, self)) continue;
    return failure(
        ErrorClass::spawn,
        "processes cannot be spawned on host \"%.200s\": this mpiexec starts them on this "
        "machine only; start the job on its hosts (mpiexec --host A,B), by prterun or "
        "Hydra, which can",
        host.name.c_str());
  }
  return {};
}

/// What holds for all jobs of an mpiexec. Lines and files of output name the job.
void take_over(Options& options, const Options& first, std::uint32_t number) {
  const std::string job = std::to_string(number);
  options.env = first.env;
  if (options.bind_to == Place::automatic) options.bind_to = first.bind_to;
  options.stdin_to = StdinTo::none;
  options.continues = first.continues;
  options.deadlock_timeout_s = first.deadlock_timeout_s;
  options.polled_deadlock_timeout_s = first.polled_deadlock_timeout_s;
  options.label = first.label;
  options.timestamps = first.timestamps;
  options.merge_stderr = first.merge_stderr;
  options.print_exit_codes = first.print_exit_codes;
  options.report_bindings = first.report_bindings;
  options.verbose = first.verbose;
  options.label_pattern = first.label_pattern;
  if (const std::size_t at = options.label_pattern.find("%r"); at != std::string::npos) {
    options.label_pattern.insert(at, job + ":");
  }
  options.output_files = first.output_files;
  if (!first.output_files.out.empty()) options.output_files.out += "." + job;
  if (!first.output_files.err.empty()) options.output_files.err += "." + job;
}

/// The program of a parsed command line becomes the one that was asked for.
Error put_in_place(Program& program, const wire::LaunchProgram& asked, const SpawnInfo& info,
                   const std::string& folder) {
  program.argv = {asked.program};
  program.argv.insert(program.argv.end(), asked.arguments.begin(), asked.arguments.end());
  program.wdir = program.wdir.empty() ? folder : wire::from_folder(folder, program.wdir);
  const auto settings = wire::info_environment(info);
  if (settings.failed()) return settings.error();
  for (const auto& [name, value] : settings.value()) program.env.settings.push_back({name, value});
  return {};
}

}  // namespace

base::Result<SpawnPlan> plan_spawn(const Options& first, const wire::LaunchSpawn& spawn,
                                   std::uint32_t number) {
  SpawnPlan plan;
  std::vector<std::string> words;
  std::vector<SpawnInfo> infos;
  for (const wire::LaunchProgram& asked : spawn.programs) {
    if (asked.processes > wire::max_job_ranks) {
      return failure(ErrorClass::spawn, "%u processes cannot be spawned, at most %u are possible",
                     asked.processes, wire::max_job_ranks);
    }
    auto info = wire::with_info_file(asked.info, spawn.folder);
    if (info.failed()) return info.error();
    const auto count = wire::soft_count(info.value(), asked.processes);
    if (count.failed()) return count.error();
    add_words(words, info.value(), spawn.folder, count.value());
    plan.codes.insert(plan.codes.end(), count.value(), 0);
    plan.codes.insert(plan.codes.end(), asked.processes - count.value(), class_of_unstarted);
    infos.push_back(std::move(*info));
  }
  auto options = parse_options(words);
  if (options.failed()) return failure(ErrorClass::spawn, "%s", options.error().text().c_str());
  plan.options = std::move(*options);
  if (Error error = refuse_other_hosts(plan.options); error.failed()) return error;
  take_over(plan.options, first, number);
  for (std::size_t i = 0; i < spawn.programs.size(); ++i) {
    const Error error =
        put_in_place(plan.options.programs[i], spawn.programs[i], infos[i], spawn.folder);
    if (error.failed()) return error;
  }
  return plan;
}

}  // namespace fulmar::mpiexec
