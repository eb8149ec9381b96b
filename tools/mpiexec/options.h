// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "mpiexec/hosts.h"

namespace fulmar::mpiexec {

/// One variable that the user wants in the environment of ranks.
struct EnvSetting {
  std::string name;
  std::string value;
};

/// What ranks get of mpiexec's own environment, and what is set on top of it.
struct EnvRules {
  std::vector<EnvSetting> settings;
  /// The only variables of mpiexec's environment that are passed on; nothing: all of them.
  std::optional<std::vector<std::string>> passed;
};

/// One program of the command line, between two `:`.
struct Program {
  std::uint32_t count = 1;        ///< ranks that run it
  bool counted = false;           ///< whether the command line says how many
  std::vector<std::string> argv;  ///< never empty after parsing
  EnvRules env;
  std::string wdir;  ///< empty: mpiexec's own
  std::string path;  ///< folders searched before PATH, separated by `:`
};

/// An object of the machine that ranks are bound to or dealt over.
enum class Place { automatic, none, hwthread, core, l3cache, numa, socket };

enum class Action { run, help, version, show };
enum class StdinTo { rank, all, none };

/// Who starts ranks on several hosts.
enum class Manager {
  automatic,  ///< the first one that is there
  slurm,      ///< srun
  prte,       ///< prterun, of Open MPI
  hydra,      ///< mpiexec.hydra, of MPICH and Intel MPI
};

/// A checked command line.
struct Options {
  Action action = Action::run;
  std::vector<Program> programs;
  EnvRules env;  ///< for all programs, under their own rules
  Place bind_to = Place::automatic;
  Place map_by = Place::automatic;
  StdinTo stdin_to = StdinTo::rank;
  std::uint32_t stdin_rank = 0;
  std::vector<Host> hosts;     ///< as given, those of the file included; empty: none given
  std::string host_file;       ///< the last one given
  std::uint32_t per_host = 0;  ///< ranks a host takes, in place of its places; 0: not given
  Dealing dealing = Dealing::fill;
  Manager manager = Manager::automatic;
  std::string remote_shell;        ///< for Hydra; empty: its own choice
  bool oversubscribe = false;      ///< said by the user; without effect on this machine
  bool allow_root = false;         ///< the same
  double timeout_s = 0;            ///< 0: none
  double deadlock_timeout_s = 60;  ///< 0: no report
  bool deadlock_abort = false;     ///< end the job after the report
  bool continues = false;  ///< --on-failure=continue: a rank that fails does not end the job
  bool label = false;
  bool report_bindings = false;
  bool verbose = false;

  /// The number of ranks of all programs.
  [[nodiscard]] std::uint32_t rank_count() const;
};

/// Reads the arguments after argv[0], and the file of hosts that they name. Fails (arg) with a text
/// that names the argument, its value and, for an unknown option, the nearest known one.
base::Result<Options> parse_options(std::span<const std::string> arguments);

/// The text of --help.
std::string help_text();

}  // namespace fulmar::mpiexec
