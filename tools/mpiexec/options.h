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

/// The launcher that starts ranks on several hosts.
enum class Manager {
  automatic,  ///< the first one that is there
  slurm,      ///< srun
  prte,       ///< prterun, of Open MPI
  hydra,      ///< mpiexec.hydra, of MPICH and Intel MPI
};

/// The MPI that programs were built for, as far as mpiexec offers its libraries in LD_LIBRARY_PATH.
enum class ProgramAbi {
  automatic,  ///< MPICH's and Open MPI's: their names differ
  mpich,      ///< libmpi.so.12
  openmpi,    ///< libmpi.so.40
  standard,   ///< libmpi_abi.so.1, for programs that would find another one
  none,
};

/// Where the output of ranks goes besides, or instead of, mpiexec's own. A pattern is the name of a
/// file with `%r` for the rank, `%R` for the rank with zeros ahead (all equally long), `%h` for the
/// name of the host, `%g` and `%p` for 0 and `%%` for a percent sign; what several streams name is
/// one file.
struct OutputFiles {
  std::string out;    ///< pattern for stdout; empty: no file
  std::string err;    ///< pattern for stderr
  bool copy = false;  ///< mpiexec's own stdout and stderr get the text, too
};

/// A checked command line.
struct Options {
  Action action = Action::run;
  std::vector<Program> programs;
  EnvRules env;      ///< for all programs, under their own rules
  std::string wdir;  ///< of programs that have none of their own; after parsing they all have it
  std::string path;  ///< the same
  Place bind_to = Place::automatic;
  Place map_by = Place::automatic;
  std::uint32_t ranks_per_object =
      0;  ///< that an object of map_by takes before the next; 0: not given
  std::uint32_t units_per_rank = 0;  ///< cores that a rank is bound to; 0: not given
  bool count_hwthreads = false;      ///< hardware threads instead of cores
  StdinTo stdin_to = StdinTo::rank;
  std::uint32_t stdin_rank = 0;
  std::vector<Host> hosts;     ///< as given, those of the file included; empty: none given
  std::string host_file;       ///< the last one given
  std::uint32_t per_host = 0;  ///< ranks a host takes, in place of its places; 0: not given
  Dealing dealing = Dealing::fill;
  Manager manager = Manager::automatic;
  ProgramAbi abi = ProgramAbi::automatic;
  std::string remote_shell;        ///< for Hydra; empty: its own choice
  bool oversubscribe = false;      ///< said by the user; without effect on this machine
  bool allow_root = false;         ///< the same
  double timeout_s = 0;            ///< 0: none
  double deadlock_timeout_s = 10;  ///< 0: no report
  double polled_deadlock_timeout_s =
      60;                           ///< where a rank waits by MPI_Test or MPI_Iprobe in a loop
  bool deadlock_abort = false;      ///< end the job after the report
  std::uint32_t universe_size = 0;  ///< MPI_UNIVERSE_SIZE; 0: as many as there are cores, or ranks
  bool continues = false;  ///< --on-failure=continue: a rank that fails does not end the job
  bool label = false;
  std::string label_pattern = "[%r] ";  ///< as in OutputFiles
  bool timestamps = false;              ///< begin each line of output with the time
  bool merge_stderr = false;            ///< the ranks' stderr goes where their stdout goes
  OutputFiles output_files;
  std::string output_text;  ///< what --output was given, for prterun
  bool report_bindings = false;
  bool show_map = false;          ///< say how many ranks run where
  bool print_rank_map = false;    ///< the same as Hydra prints it, on stdout
  bool print_exit_codes = false;  ///< of all ranks, at the end
  bool verbose = false;

  /// The number of ranks of all programs.
  [[nodiscard]] std::uint32_t rank_count() const;
};

/// The variables that stand for --deadlock-timeout, --timeout (0: none) and -usize where these options are not
/// given. The last two have the names that Hydra gives them.
inline constexpr const char* env_deadlock_timeout = "FULMAR_DEADLOCK_TIMEOUT";
inline constexpr const char* env_timeout = "MPIEXEC_TIMEOUT";
inline constexpr const char* env_universe = "MPIEXEC_UNIVERSE_SIZE";

/// Reads the arguments after argv[0], the file of hosts that they name, and the variables above.
/// Fails (arg) with a text that names the argument, its value and, for an unknown option, the
/// nearest known one.
base::Result<Options> parse_options(std::span<const std::string> arguments);

/// The text of --help.
std::string help_text();

}  // namespace fulmar::mpiexec
