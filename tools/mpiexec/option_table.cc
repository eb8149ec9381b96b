// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/option_table.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "mpiexec/foreign_options.h"
#include "mpiexec/option_values.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using Values = std::span<const std::string>;

Error set_count(const OptionTarget& target, Values values) {
  target.program.counted = true;
  return parse_number("-n", values[0], 1, wire::max_job_ranks, target.program.count);
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos;
}

Error add_setting(EnvRules& rules, const std::string& name, const std::string& value) {
  if (!is_variable_name(name)) {
    return failure(ErrorClass::arg, "\"%s\" is no name of an environment variable", name.c_str());
  }
  rules.settings.push_back({name, value});
  return {};
}

Error pass_also(EnvRules& rules, const std::string& name) {
  if (!is_variable_name(name)) {
    return failure(ErrorClass::arg, "\"%s\" is no name of an environment variable", name.c_str());
  }
  if (const char* value = std::getenv(name.c_str())) rules.settings.push_back({name, value});
  return {};
}

Error set_env(const OptionTarget& target, Values values) {
  return add_setting(target.program.env, values[0], values[1]);
}
Error set_genv(const OptionTarget& target, Values values) {
  return add_setting(target.options.env, values[0], values[1]);
}
Error set_x(const OptionTarget& target, Values values) {
  const std::size_t equals = values[0].find('=');
  if (equals == std::string::npos) return pass_also(target.program.env, values[0]);
  return add_setting(target.program.env, values[0].substr(0, equals), values[0].substr(equals + 1));
}
Error set_env_list(const OptionTarget& target, Values values) {
  target.program.env.passed = split(values[0], ',');
  return {};
}
Error set_genv_list(const OptionTarget& target, Values values) {
  target.options.env.passed = split(values[0], ',');
  return {};
}
Error set_env_none(const OptionTarget& target, Values /*values*/) {
  target.program.env.passed.emplace();
  return {};
}
Error set_genv_none(const OptionTarget& target, Values /*values*/) {
  target.options.env.passed.emplace();
  return {};
}

Error set_wdir(const OptionTarget& target, Values values) {
  target.program.wdir = values[0];
  return {};
}
Error set_path(const OptionTarget& target, Values values) {
  target.program.path = values[0];
  return {};
}

Error set_gwdir(const OptionTarget& target, Values values) {
  target.options.wdir = values[0];
  return {};
}
Error set_gpath(const OptionTarget& target, Values values) {
  target.options.path = values[0];
  return {};
}

/// The library knows the same as an option.
Error set_initial_errhandler(const OptionTarget& target, Values values) {
  constexpr std::array<std::string_view, 3> names = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                                     "mpi_errors_return"};
  if (std::find(names.begin(), names.end(), values[0]) == names.end()) {
    return failure(ErrorClass::arg,
                   "-initial-errhandler is \"%s\", expected mpi_errors_are_fatal, "
                   "mpi_errors_abort or mpi_errors_return",
                   values[0].c_str());
  }
  return add_setting(target.program.env, "FULMAR_ERRHANDLER", values[0]);
}

Error set_timeout(const OptionTarget& target, Values values) {
  return parse_seconds("--timeout", values[0], 1e-9, target.options.timeout_s);
}
Error set_deadlock_timeout(const OptionTarget& target, Values values) {
  return parse_deadlock_timeout("--deadlock-timeout", values[0], target.options);
}
Error set_on_failure(const OptionTarget& target, Values values) {
  if (values[0] != "abort" && values[0] != "continue") {
    return failure(ErrorClass::arg, "--on-failure is \"%s\", expected abort or continue",
                   values[0].c_str());
  }
  target.options.continues = values[0] == "continue";
  return {};
}
Error set_continues(const OptionTarget& target, Values /*values*/) {
  target.options.continues = true;
  return {};
}
Error set_fault_tolerance(const OptionTarget& target, Values values) {
  return parse_fault_tolerance(values[0], target.options);
}
Error set_deadlock_abort(const OptionTarget& target, Values /*values*/) {
  target.options.deadlock_abort = true;
  return {};
}

Error set_universe(const OptionTarget& target, Values values) {
  return parse_universe("-usize", values[0], target.options);
}

Error set_bind_to(const OptionTarget& target, Values values) {
  return parse_bind_to(values[0], target.options);
}
Error set_map_by(const OptionTarget& target, Values values) {
  return parse_map_by(values[0], target.options);
}
Error set_units(const OptionTarget& target, Values values) {
  return parse_number("--cpus-per-rank", values[0], 1, wire::max_job_ranks,
                      target.options.units_per_rank);
}
Error set_per_socket(const OptionTarget& target, Values values) {
  return parse_map_by("ppr:" + values[0] + ":socket", target.options);
}
Error set_per_node(const OptionTarget& target, Values /*values*/) {
  target.options.per_host = 1;
  return {};
}
Error set_by_node(const OptionTarget& target, Values /*values*/) {
  return parse_map_by("node", target.options);
}
Error set_by_core(const OptionTarget& target, Values /*values*/) {
  return parse_map_by("core", target.options);
}
Error set_by_socket(const OptionTarget& target, Values /*values*/) {
  return parse_map_by("socket", target.options);
}
Error set_bind_none(const OptionTarget& target, Values /*values*/) {
  return parse_bind_to("none", target.options);
}
Error set_bind_core(const OptionTarget& target, Values /*values*/) {
  return parse_bind_to("core", target.options);
}
Error set_bind_socket(const OptionTarget& target, Values /*values*/) {
  return parse_bind_to("socket", target.options);
}

Error set_stdin(const OptionTarget& target, Values values) {
  if (values[0] == "all") {
    target.options.stdin_to = StdinTo::all;
    return {};
  }
  if (values[0] == "none") {
    target.options.stdin_to = StdinTo::none;
    return {};
  }
  target.options.stdin_to = StdinTo::rank;
  return parse_number("--stdin (a rank, all or none)", values[0], 0, wire::max_job_ranks - 1,
                      target.options.stdin_rank);
}

Error set_hosts(const OptionTarget& target, Values values) {
  const auto hosts = parse_host_list("-host", values[0]);
  if (hosts.failed()) return hosts.error();
  add_hosts(target.options.hosts, hosts.value());
  return {};
}
Error set_host_file(const OptionTarget& target, Values values) {
  target.options.host_file = values[0];
  return {};
}
Error set_per_host(const OptionTarget& target, Values values) {
  return parse_number("-ppn", values[0], 1, wire::max_job_ranks, target.options.per_host);
}
Error set_manager(const OptionTarget& target, Values values) {
  struct Name {
    std::string_view name;
    Manager manager;
  };
  constexpr std::array names = {Name{"auto", Manager::automatic}, Name{"slurm", Manager::slurm},
                                Name{"srun", Manager::slurm},     Name{"prte", Manager::prte},
                                Name{"prterun", Manager::prte},   Name{"hydra", Manager::hydra}};
  for (const Name& entry : names) {
    if (entry.name != values[0]) continue;
    target.options.manager = entry.manager;
    return {};
  }
  return failure(ErrorClass::arg, "--manager is \"%s\", expected auto, slurm, prte or hydra",
                 values[0].c_str());
}
Error set_abi(const OptionTarget& target, Values values) {
  struct Name {
    std::string_view name;
    ProgramAbi abi;
  };
  constexpr std::array names = {
      Name{"auto", ProgramAbi::automatic}, Name{"mpich", ProgramAbi::mpich},
      Name{"openmpi", ProgramAbi::openmpi}, Name{"standard", ProgramAbi::standard},
      Name{"none", ProgramAbi::none}};
  for (const Name& entry : names) {
    if (entry.name != values[0]) continue;
    target.options.abi = entry.abi;
    return {};
  }
  return failure(ErrorClass::arg,
                 "--abi is \"%s\", expected auto, mpich, openmpi, standard or none",
                 values[0].c_str());
}
Error set_remote_shell(const OptionTarget& target, Values values) {
  target.options.remote_shell = values[0];
  return {};
}
Error set_oversubscribe(const OptionTarget& target, Values /*values*/) {
  target.options.oversubscribe = true;
  return {};
}
Error set_allow_root(const OptionTarget& target, Values /*values*/) {
  target.options.allow_root = true;
  return {};
}
Error check_arch(const OptionTarget& /*target*/, Values values) {
  utsname self{};
  ::uname(&self);
  if (values[0] == self.machine) return {};
  return failure(ErrorClass::arg, "-arch is \"%s\", but this machine is %s", values[0].c_str(),
                 self.machine);
}
/// The parser replaces a lone -configfile before it uses the table.
Error reject_configfile(const OptionTarget& /*target*/, Values /*values*/) {
  return failure(ErrorClass::arg, "-configfile FILE must be the only option of the line");
}

Error set_label(const OptionTarget& target, Values /*values*/) {
  target.options.label = true;
  return {};
}
Error set_label_pattern(const OptionTarget& target, Values values) {
  target.options.label = true;
  target.options.label_pattern = values[0];
  return {};
}
Error set_output(const OptionTarget& target, Values values) {
  return parse_output(values[0], target.options);
}
Error set_output_folder(const OptionTarget& target, Values values) {
  return parse_output_folder(values[0], target.options);
}
Error set_timestamps(const OptionTarget& target, Values /*values*/) {
  target.options.timestamps = true;
  return {};
}
Error set_merge(const OptionTarget& target, Values /*values*/) {
  target.options.merge_stderr = true;
  return {};
}
Error set_out_pattern(const OptionTarget& target, Values values) {
  target.options.output_files.out = values[0];
  return {};
}
Error set_err_pattern(const OptionTarget& target, Values values) {
  target.options.output_files.err = values[0];
  return {};
}
Error set_exit_codes(const OptionTarget& target, Values /*values*/) {
  target.options.print_exit_codes = true;
  return {};
}
Error set_rank_map(const OptionTarget& target, Values /*values*/) {
  target.options.print_rank_map = true;
  return {};
}
Error set_display(const OptionTarget& target, Values values) {
  return parse_display(values[0], target.options);
}
Error set_show_map(const OptionTarget& target, Values /*values*/) {
  target.options.show_map = true;
  return {};
}
Error set_interface(const OptionTarget& target, Values values) {
  return add_setting(target.options.env, "FULMAR_TCP_INTERFACES", values[0]);
}
Error set_memory_kinds(const OptionTarget& /*target*/, Values values) {
  return check_memory_kinds(values[0]);
}
Error set_report(const OptionTarget& target, Values /*values*/) {
  target.options.report_bindings = true;
  return {};
}
Error set_verbose(const OptionTarget& target, Values /*values*/) {
  target.options.verbose = true;
  return {};
}
Error set_show(const OptionTarget& target, Values /*values*/) {
  target.options.action = Action::show;
  return {};
}
Error set_help(const OptionTarget& target, Values /*values*/) {
  target.options.action = Action::help;
  return {};
}
Error set_version(const OptionTarget& target, Values /*values*/) {
  target.options.action = Action::version;
  return {};
}

constexpr std::array rows = {
    OptionRow{"n np c", 1, "N", "run N ranks of the program (default 1)", set_count},
    OptionRow{"env", 2, "NAME VALUE", "set a variable for the program", set_env},
    OptionRow{"x", 1, "NAME[=VALUE]", "the same in one word; NAME alone: pass it on", set_x},
    OptionRow{"envlist", 1, "A,B", "pass on only these variables", set_env_list},
    OptionRow{"envnone", 0, "", "pass on no variable of this shell", set_env_none},
    OptionRow{"genv", 2, "NAME VALUE", "set a variable for all programs", set_genv},
    OptionRow{"genvlist", 1, "A,B", "pass on only these variables, for all", set_genv_list},
    OptionRow{"genvnone", 0, "", "pass on no variable, for all", set_genv_none},
    OptionRow{"wdir wd", 1, "DIR", "run the program in DIR", set_wdir},
    OptionRow{"path", 1, "DIRS", "look for the program in DIRS before PATH", set_path},
    OptionRow{"initial-errhandler", 1, "NAME",
              "start with mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
              set_initial_errhandler},
    OptionRow{"memory-alloc-kinds", 1, "A,B", "kinds of memory that the program asks for",
              set_memory_kinds},
    OptionRow{"bind-to binding", 1, "OBJECT",
              "bind ranks: none, hwthread, core, l3cache, numa, socket; core:N: N cores each",
              set_bind_to},
    OptionRow{"map-by", 1, "OBJECT",
              "deal ranks over: node, hwthread, core, l3cache, numa, socket, or ppr:N:OBJECT: N on "
              "each; OBJECT:PE=N: N cores for each rank",
              set_map_by},
    OptionRow{"cpus-per-rank cpus-per-proc", 1, "N", "bind each rank to N cores", set_units},
    OptionRow{"report-bindings", 0, "", "say where each rank is bound", set_report},
    OptionRow{"display", 1, "map|bind", "say how ranks are dealt, where each is bound",
              set_display},
    OptionRow{"print-rank-map", 0, "", "print the ranks of each host on standard output",
              set_rank_map},
    OptionRow{"stdin s", 1, "RANK|all|none", "who reads standard input (default rank 0)",
              set_stdin},
    OptionRow{"label l tag-output prepend-rank", 0, "", "begin each line of output with its rank",
              set_label},
    OptionRow{"prepend-pattern", 1, "TEXT", "begin each line with TEXT, %r in it is the rank",
              set_label_pattern},
    OptionRow{"output", 1, "WORDS",
              "tag, timestamp, merge-stderr-to-stdout, dir=NAME, filename=NAME, nocopy",
              set_output},
    OptionRow{"output-filename output-directory", 1, "DIR[:nocopy]",
              "copy the output of rank R to DIR/1/rank.R/stdout and stderr", set_output_folder},
    OptionRow{"outfile-pattern outfile", 1, "FILE",
              "write standard output to FILE; %r is the rank, %h the host", set_out_pattern},
    OptionRow{"errfile-pattern errfile", 1, "FILE", "the same for standard error", set_err_pattern},
    OptionRow{"timestamp-output", 0, "", "begin each line of output with the time", set_timestamps},
    OptionRow{"merge-stderr-to-stdout stderr-to-stdout", 0, "",
              "standard error of ranks goes where their standard output goes", set_merge},
    OptionRow{"print-all-exitcodes", 0, "", "say at the end how each rank ended", set_exit_codes},
    OptionRow{"timeout", 1, "SECONDS", "end the job after that time, with exit code 124",
              set_timeout},
    OptionRow{
        "on-failure", 1, "WHAT",
        "when a rank fails: abort (the standard) ends the job, continue lets the others go on",
        set_on_failure},
    OptionRow{"usize", 1, "N",
              "MPI_UNIVERSE_SIZE: a number, INFINITE, or SYSTEM (the standard): cores, or ranks",
              set_universe},
    OptionRow{"deadlock-timeout", 1, "SECONDS",
              "explain a job that stands still for that time (default 10, 0: never)",
              set_deadlock_timeout},
    OptionRow{"deadlock-abort", 0, "", "end such a job after that, with exit code 125",
              set_deadlock_abort},
    OptionRow{"iface", 1, "NAME", "use this network interface between hosts (tcp)", set_interface},
    OptionRow{"host H hosts", 1, "A,B:N", "run on these hosts, N ranks on B before the next",
              set_hosts},
    OptionRow{"hostfile f machinefile machine default-hostfile", 1, "FILE",
              "the same from a file, a host a line", set_host_file},
    OptionRow{"ppn perhost npernode N", 1, "N", "ranks on each host before the next", set_per_host},
    OptionRow{"manager", 1, "NAME", "who starts them there: auto, slurm, prte, hydra", set_manager},
    OptionRow{"abi", 1, "NAME",
              "libraries offered to programs of other MPIs: auto, mpich, openmpi, standard, none",
              set_abi},
    OptionRow{"dry-run show", 0, "", "print the command line that this would become", set_show},
    OptionRow{"arch", 1, "NAME", "fail unless the machine is NAME (uname -m)", check_arch},
    OptionRow{"configfile", 1, "FILE", "read programs from FILE, one a line", reject_configfile},
    OptionRow{"verbose v", 0, "", "say what is done", set_verbose},
    OptionRow{"help h", 0, "", "print this text", set_help},
    OptionRow{"version V", 0, "", "print the version", set_version},
    // Other names for the same, of other launchers.
    OptionRow{"oversubscribe", 0, "", "", set_oversubscribe},
    OptionRow{"allow-run-as-root", 0, "", "", set_allow_root},
    OptionRow{"launcher bootstrap", 1, "", "", set_remote_shell},
    OptionRow{"rr pernode", 0, "", "", set_per_node},
    OptionRow{"grr", 1, "", "", set_per_host},
    OptionRow{"npersocket", 1, "", "", set_per_socket},
    OptionRow{"bynode", 0, "", "", set_by_node},
    OptionRow{"bycore byslot", 0, "", "", set_by_core},
    OptionRow{"bysocket", 0, "", "", set_by_socket},
    OptionRow{"bind-to-none", 0, "", "", set_bind_none},
    OptionRow{"bind-to-core", 0, "", "", set_bind_core},
    OptionRow{"bind-to-socket", 0, "", "", set_bind_socket},
    OptionRow{"display-map display-devel-map display-allocation", 0, "", "", set_show_map},
    OptionRow{"gwdir", 1, "", "", set_gwdir},
    OptionRow{"gpath", 1, "", "", set_gpath},
    OptionRow{"disable-auto-cleanup continuous", 0, "", "", set_continues},
    OptionRow{"with-ft", 1, "", "", set_fault_tolerance},
    OptionRow{"info", 0, "", "", set_version},
};

/// The number of single-letter edits that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

template <class Visit>
void for_each_name(const OptionRow& row, Visit visit) {
  std::string_view rest = row.names;
  while (!rest.empty()) {
    const std::size_t at = std::min(rest.find(' '), rest.size());
    visit(rest.substr(0, at));
    rest.remove_prefix(std::min(at + 1, rest.size()));
  }
}

}  // namespace

std::span<const OptionRow> option_rows() { return rows; }

const OptionRow* find_option(std::string_view name) {
  for (const OptionRow& row : rows) {
    if (is_named(row.names, name)) return &row;
  }
  return nullptr;
}

std::string_view nearest_option(std::string_view name) {
  std::string_view best;
  std::size_t best_distance = 1 + name.size() / 3;
  for (const OptionRow& row : rows) {
    if (row.help.empty()) continue;
    for_each_name(row, [&](std::string_view known) {
      const std::size_t distance = edit_distance(name, known);
      if (distance < best_distance || (distance == best_distance && best.empty())) {
        best = known;
        best_distance = distance;
      }
    });
  }
  return best;
}

}  // namespace fulmar::mpiexec
