// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// One class for each process manager: how it says what our options say.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>

#include "mpiexec/environment.h"
#include "mpiexec/find_program.h"
#include "mpiexec/handover.h"
#include "mpiexec/shell.h"
#include "mpiexec/translate_output.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using Words = std::vector<std::string>;

void append(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string_view name_of(std::string_view setting) { return setting.substr(0, setting.find('=')); }

std::string join(const Words& words, char separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

/// "a:3,b:2".
std::string counted_hosts(std::span<const Share> shares) {
  Words entries;
  for (const Share& share : shares) {
    const bool v6 = share.host.find(':') != std::string::npos;
    entries.push_back((v6 ? "[" + share.host + "]" : share.host) + ":" +
                      std::to_string(share.ranks));
  }
  return join(entries, ',');
}

/// The folder as every host sees it; empty: that of mpiexec.
std::string folder_of(const Program& program) {
  if (program.wdir.empty()) return {};
  std::error_code problem;
  const auto folder = std::filesystem::absolute(program.wdir, problem);
  return problem ? program.wdir : folder.lexically_normal().string();
}

/// The folder that all programs share; nothing where they differ.
std::optional<std::string> common_folder(const Options& options) {
  const std::string first = folder_of(options.programs[0]);
  const bool same =
      std::all_of(options.programs.begin(), options.programs.end(),
                  [&](const Program& program) { return folder_of(program) == first; });
  return same ? std::optional(first) : std::nullopt;
}

/// The program and its arguments. What -path or the present folder decides here is decided for all
/// hosts; other names are looked up where the ranks are.
Words argv_of(const Program& program, std::span<const std::string> environment) {
  Words words = program.argv;
  if (words[0].find('/') != std::string::npos) return words;
  const Words list(environment.begin(), environment.end());
  const char* const path = find_variable(list, "PATH");
  const FoundProgram found =
      find_program(words[0], program.wdir, program.path, path == nullptr ? "" : path);
  const bool decided = !program.path.empty() || found.file.starts_with("./");
  if (found.exit_code == 0 && decided) words[0] = found.file;
  return words;
}

/// The names that -envlist, -envnone and their like leave; nothing: all.
std::optional<Words> passed_names(const Options& options, const Program& program) {
  if (!options.env.passed && !program.env.passed) return std::nullopt;
  Words names = options.env.passed ? *options.env.passed : *program.env.passed;
  if (options.env.passed && program.env.passed) {
    std::erase_if(names, [&](const std::string& name) {
      const Words& also = *program.env.passed;
      return std::find(also.begin(), also.end(), name) == also.end();
    });
  }
  for (const EnvSetting& setting : options.env.settings) names.push_back(setting.name);
  return names;
}

/// "env -C FOLDER NAME=VALUE", or nothing.
Words env_words(const std::string& folder, std::span<const EnvSetting> settings) {
  if (folder.empty() && settings.empty()) return {};
  Words words = {"env"};
  if (!folder.empty()) append(words, {"-C", folder});
  for (const EnvSetting& setting : settings) words.push_back(setting.name + "=" + setting.value);
  return words;
}

const char* place_name(Place place, const char* socket) {
  switch (place) {
    case Place::hwthread:
      return "hwthread";
    case Place::core:
      return "core";
    case Place::l3cache:
      return "l3cache";
    case Place::numa:
      return "numa";
    case Place::socket:
      return socket;
    default:
      return "none";
  }
}

/// What all translations need.
struct Job {
  const Options& options;
  std::span<const Share> shares;
  const FoundManager& manager;
  std::span<const std::string> environment;
};

Error add_hydra(const Job& job, Handover& out) {
  const Options& options = job.options;
  Words& words = out.words;
  if (options.stdin_to == StdinTo::all ||
      (options.stdin_to == StdinTo::rank && options.stdin_rank != 0)) {
    return not_there("Hydra", "--stdin", "it gives standard input to rank 0 only");
  }
  words.push_back(job.manager.file);
  if (!options.remote_shell.empty()) append(words, {"-launcher", options.remote_shell});
  if (!job.shares.empty() && options.dealing == Dealing::in_turn) {
    Words names;
    for (const Share& share : job.shares) names.push_back(share.host);
    append(words, {"-hosts", join(names, ',')});
  } else if (!job.shares.empty()) {
    append(words, {"-hosts", counted_hosts(job.shares)});
  } else if (options.per_host > 0) {
    append(words, {"-ppn", std::to_string(options.per_host)});
  }
  const auto folder = common_folder(options);
  if (folder && !folder->empty()) append(words, {"-wdir", *folder});
  if (options.ranks_per_object > 0) {
    return not_there("Hydra", "--map-by ppr", "use -ppn, or --map-by ppr:N:node");
  }
  if (options.units_per_rank > 0) {
    const char* const unit = options.count_hwthreads ? "hwthread:" : "core:";
    append(words, {"-bind-to", unit + std::to_string(options.units_per_rank)});
  } else if (options.bind_to != Place::automatic) {
    append(words, {"-bind-to", place_name(options.bind_to, "socket")});
  }
  if (options.map_by != Place::automatic && options.map_by != Place::none) {
    append(words, {"-map-by", place_name(options.map_by, "socket")});
  }
  if (Error error = add_hydra_output(options, out); error.failed()) return error;
  for (const Program& program : options.programs) {
    if (&program != options.programs.data()) words.emplace_back(":");
    append(words, {"-n", std::to_string(program.count)});
    for (const EnvSetting& setting : program.env.settings) {
      append(words, {"-env", setting.name, setting.value});
    }
    if (const auto passed = passed_names(options, program)) {
      if (passed->empty()) {
        words.emplace_back("-envnone");
      } else {
        append(words, {"-envlist", join(*passed, ',')});
      }
    }
    const Words ahead = env_words(folder ? "" : folder_of(program), {});
    words.insert(words.end(), ahead.begin(), ahead.end());
    const Words argv = argv_of(program, job.environment);
    words.insert(words.end(), argv.begin(), argv.end());
  }
  return {};
}

/// What says something about this host, this shell or prterun itself, not about the program.
bool stays_here(std::string_view name) {
  constexpr std::array<std::string_view, 8> starts = {"PRTE_", "PMIX_",  "OPAL_",      "OMPI_",
                                                      "SSH_",  "SLURM_", "BASH_FUNC_", "HYDRA_"};
  constexpr std::array<std::string_view, 6> names = {"_",      "SHLVL",    "PWD",
                                                     "OLDPWD", "HOSTNAME", "HOST"};
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
  return !plain || std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(starts.begin(), starts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// prterun passes nothing on to other hosts but what is named; by name alone, so that no value
/// is on a command line that all users can read.
void add_passed(const Job& job, const Program& program, Words& words) {
  const auto passed = passed_names(job.options, program);
  Words names;
  for (const std::string& setting : job.environment) {
    const std::string name(name_of(setting));
    const bool wanted = !passed || std::find(passed->begin(), passed->end(), name) != passed->end();
    if (wanted && !stays_here(name)) names.push_back(name);
  }
  for (const EnvSetting& setting : job.options.env.settings) names.push_back(setting.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const EnvSetting& setting : program.env.settings) std::erase(names, setting.name);
  for (const std::string& name : names) append(words, {"-x", name});
  for (const EnvSetting& setting : program.env.settings) {
    append(words, {"-x", setting.name + "=" + setting.value});
  }
}

Error add_prte(const Job& job, Handover& out) {
  const Options& options = job.options;
  Words& words = out.words;
  words.push_back(job.manager.file);
  if (options.allow_root) words.emplace_back("--allow-run-as-root");
  if (!job.shares.empty()) append(words, {"--host", counted_hosts(job.shares)});
  const bool mapped = options.map_by != Place::automatic && options.map_by != Place::none;
  std::string map = options.dealing == Dealing::in_turn ? "node"
                    : mapped                            ? place_name(options.map_by, "package")
                                                        : "slot";
  if (options.ranks_per_object > 0) {
    map = "ppr:" + std::to_string(options.ranks_per_object) + ":" + map;
  }
  map += ":OVERSUBSCRIBE";
  if (options.units_per_rank > 0) map += ",PE=" + std::to_string(options.units_per_rank);
  if (options.count_hwthreads) map += ",HWTCPUS";
  append(words, {"--map-by", map});
  if (options.bind_to != Place::automatic) {
    const std::string place = place_name(options.bind_to, "package");
    append(words, {"--bind-to", place == "none" ? place : place + ":overload-allowed"});
  }
  if (Error error = add_prte_output(options, out); error.failed()) return error;
  if (options.stdin_to == StdinTo::all) append(words, {"--stdin", "all"});
  if (options.stdin_to == StdinTo::rank && options.stdin_rank != 0) {
    append(words, {"--stdin", std::to_string(options.stdin_rank)});
  }
  for (const Program& program : options.programs) {
    if (&program != options.programs.data()) words.emplace_back(":");
    append(words, {"-n", std::to_string(program.count)});
    if (!program.wdir.empty()) append(words, {"--wdir", folder_of(program)});
    add_passed(job, program, words);
    const Words argv = argv_of(program, job.environment);
    words.insert(words.end(), argv.begin(), argv.end());
  }
  return {};
}

/// --export: variables that the steps of Slurm see.
Error add_slurm_export(const Options& options, Words& words) {
  const auto passed = passed_names(options, options.programs[0]);
  for (const Program& program : options.programs) {
    if (passed_names(options, program) != passed) {
      return not_there("srun", "-envlist", "use -genvlist, which is for all programs");
    }
  }
  if (!passed) {
    words.emplace_back("--export=ALL");
  } else {
    words.push_back("--export=" + (passed->empty() ? std::string("NONE") : join(*passed, ',')));
  }
  return {};
}

Error add_slurm_binding(const Options& options, Words& words) {
  if (options.map_by != Place::automatic && options.map_by != Place::none) {
    return not_there("srun", "--map-by", "leave it out, or use --map-by node");
  }
  if (options.ranks_per_object > 0) {
    return not_there("srun", "--map-by ppr", "use -ppn, or --map-by ppr:N:node");
  }
  const char* bind = nullptr;
  switch (options.bind_to) {
    case Place::automatic:
      break;
    case Place::none:
      bind = "none";
      break;
    case Place::hwthread:
      bind = "threads";
      break;
    case Place::core:
      bind = "cores";
      break;
    case Place::numa:
      bind = "ldoms";
      break;
    case Place::socket:
      bind = "sockets";
      break;
    case Place::l3cache:
      return not_there("srun", "--bind-to l3cache", "use numa or socket");
  }
  std::string value = options.report_bindings ? "verbose" : "";
  if (bind != nullptr) value += (value.empty() ? "" : ",") + std::string(bind);
  if (!value.empty()) words.push_back("--cpu-bind=" + value);
  return {};
}

/// A host named once for each of its ranks.
std::string host_of_each_rank(std::span<const Share> shares) {
  Words hosts;
  for (const Share& share : shares) hosts.insert(hosts.end(), share.ranks, share.host);
  return join(hosts, ',');
}

/// Which hosts get which ranks. Slurm's PMI-1 says to the ranks of an arbitrary distribution that
/// each is alone on its node, so that one is for different numbers of ranks only.
void add_slurm_hosts(const Job& job, Words& words) {
  const Options& options = job.options;
  const bool in_turn = options.dealing == Dealing::in_turn;
  if (job.shares.empty()) {
    if (options.per_host > 0) {
      words.push_back("--ntasks-per-node=" + std::to_string(options.per_host));
    }
    if (in_turn) words.emplace_back("--distribution=cyclic");
    return;
  }
  append(words, {"-N", std::to_string(job.shares.size())});
  Words names;
  for (const Share& share : job.shares) names.push_back(share.host);
  const std::uint32_t each = job.shares[0].ranks;
  const bool alike = std::all_of(job.shares.begin(), job.shares.end(),
                                 [&](const Share& share) { return share.ranks == each; });
  if (in_turn) {
    append(words, {"--distribution=cyclic", "-w", join(names, ',')});
  } else if (alike) {
    append(words, {"--distribution=block", "--ntasks-per-node=" + std::to_string(each), "-w",
                   join(names, ',')});
  } else {
    append(words, {"--distribution=arbitrary", "-w", host_of_each_rank(job.shares)});
  }
}

/// One program as it is; several as a shell script that selects by its rank.
Words slurm_programs(const Job& job, const std::optional<std::string>& folder) {
  const Options& options = job.options;
  const auto line_of = [&](const Program& program) {
    Words words = env_words(folder ? "" : folder_of(program), program.env.settings);
    const Words argv = argv_of(program, job.environment);
    words.insert(words.end(), argv.begin(), argv.end());
    return words;
  };
  if (options.programs.size() == 1) return line_of(options.programs[0]);
  std::string script = "if";
  std::uint32_t end = 0;
  for (const Program& program : options.programs) {
    if (end > 0) script += " elif";
    end += program.count;
    script += " [ $SLURM_PROCID -lt " + std::to_string(end) + " ]; then exec " +
              shell_line(line_of(program)) + ";";
  }
  return {"sh", "-c", script + " fi"};
}

Error add_slurm(const Job& job, Handover& out) {
  const Options& options = job.options;
  Words& words = out.words;
  words.push_back(job.manager.file);
  if (!job.manager.plugin.empty()) words.push_back("--mpi=" + job.manager.plugin);
  const Words environment(job.environment.begin(), job.environment.end());
  if (find_variable(environment, "SLURM_STEP_ID") != nullptr) words.emplace_back("--overlap");
  if (Error error = add_slurm_export(options, words); error.failed()) return error;
  const bool ranks_known = !job.shares.empty() || options.programs[0].counted;
  if (ranks_known || options.programs.size() > 1) {
    append(words, {"-n", std::to_string(options.rank_count())});
  }
  add_slurm_hosts(job, words);
  if (options.oversubscribe) words.emplace_back("--overcommit");
  if (options.units_per_rank > 0) {
    words.push_back("--cpus-per-task=" + std::to_string(options.units_per_rank));
  }
  if (Error error = add_slurm_binding(options, words); error.failed()) return error;
  if (Error error = add_slurm_output(options, out); error.failed()) return error;
  const std::string reader = options.stdin_to == StdinTo::all ? "all"
                             : options.stdin_to == StdinTo::none
                                 ? "none"
                                 : std::to_string(options.stdin_rank);
  words.push_back("--input=" + reader);
  const auto folder = common_folder(options);
  if (folder && !folder->empty()) words.push_back("--chdir=" + *folder);
  if (options.programs.size() > 1) {
    out.notes.emplace_back("under srun MPI_APPNUM is 0 in all programs of the line");
  }
  const Words programs = slurm_programs(job, folder);
  words.insert(words.end(), programs.begin(), programs.end());
  return {};
}

}  // namespace

base::Result<Handover> translate(const Options& options, std::span<const Share> shares,
                                 const FoundManager& manager,
                                 std::span<const std::string> environment) {
  Handover out;
  out.settings = options.env.settings;
  out.no_input = options.stdin_to == StdinTo::none;
  if (options.timeout_s > 0) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.9g", options.timeout_s);
    out.words = {"timeout", "--foreground", "-k", "5", seconds.data()};
  }
  if (options.deadlock_abort) {
    out.notes.emplace_back("--deadlock-abort has no effect on several hosts");
  }
  const Job job{options, shares, manager, environment};
  const Error error = manager.kind == Manager::slurm  ? add_slurm(job, out)
                      : manager.kind == Manager::prte ? add_prte(job, out)
                                                      : add_hydra(job, out);
  if (error.failed()) return error;
  return out;
}

}  // namespace fulmar::mpiexec
