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

#include "wire/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using Values = std::span<const std::string>;

Error parse_number(const char* what, const std::string& text, std::uint32_t low, std::uint32_t high,
                   std::uint32_t& out) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value < low || value > high) {
    return failure(ErrorClass::arg, "%s is \"%s\", expected a number from %u to %u", what,
                   text.c_str(), low, high);
  }
  out = value;
  return {};
}

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

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(separator), text.size());
    if (at > 0) parts.emplace_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
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

Error parse_seconds(const char* what, const std::string& text, double low, double& out) {
  double seconds = -1;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, seconds);
  if (code != std::errc{} || stop != end || !(seconds >= low) || seconds > 1e8) {
    return failure(ErrorClass::arg, "%s is \"%s\", expected a number of seconds %s", what,
                   text.c_str(), low > 0 ? "above 0" : "from 0 on");
  }
  out = seconds;
  return {};
}

Error set_timeout(const OptionTarget& target, Values values) {
  return parse_seconds("--timeout", values[0], 1e-9, target.options.timeout_s);
}
Error set_deadlock_timeout(const OptionTarget& target, Values values) {
  return parse_seconds("--deadlock-timeout", values[0], 0, target.options.deadlock_timeout_s);
}
Error set_on_failure(const OptionTarget& target, Values values) {
  if (values[0] != "abort" && values[0] != "continue") {
    return failure(ErrorClass::arg, "--on-failure is \"%s\", expected abort or continue",
                   values[0].c_str());
  }
  target.options.continues = values[0] == "continue";
  return {};
}
Error set_deadlock_abort(const OptionTarget& target, Values /*values*/) {
  target.options.deadlock_abort = true;
  return {};
}

struct PlaceName {
  std::string_view name;
  Place place;
};
constexpr std::array place_names = {
    PlaceName{"none", Place::none},       PlaceName{"core", Place::core},
    PlaceName{"slot", Place::core},       PlaceName{"hwthread", Place::hwthread},
    PlaceName{"l3cache", Place::l3cache}, PlaceName{"l3", Place::l3cache},
    PlaceName{"numa", Place::numa},       PlaceName{"socket", Place::socket},
    PlaceName{"package", Place::socket},  PlaceName{"user", Place::none},
};

/// "socket:OVERSUBSCRIBE": what other launchers' modifiers ask for and what holds here anyway is
/// dropped.
std::string without_modifier(const std::string& text) {
  constexpr std::array<std::string_view, 6> harmless = {"OVERSUBSCRIBE", "NOOVERSUBSCRIBE",
                                                        "oversubscribe", "overload-allowed",
                                                        "no-overload",   "if-supported"};
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return text;
  const std::string_view modifier = std::string_view(text).substr(colon + 1);
  const bool known = std::find(harmless.begin(), harmless.end(), modifier) != harmless.end();
  return known ? text.substr(0, colon) : text;
}

/// A modifier alone leaves `out` as it is. `more` are names that the caller knows besides.
Error parse_place(const char* option, const std::string& text, const char* more, Place& out) {
  const std::string name = without_modifier(text);
  if (name.empty() && !text.empty()) return {};
  for (const PlaceName& entry : place_names) {
    if (entry.name == name) {
      out = entry.place;
      return {};
    }
  }
  return failure(ErrorClass::arg,
                 "%s is \"%s\", expected one of none, hwthread, core, l3cache, numa, socket%s",
                 option, name.c_str(), more);
}

Error set_bind_to(const OptionTarget& target, Values values) {
  return parse_place("--bind-to", values[0], "", target.options.bind_to);
}
Error set_map_by(const OptionTarget& target, Values values) {
  if (without_modifier(values[0]) == "node") {
    target.options.dealing = Dealing::in_turn;
    return {};
  }
  return parse_place("--map-by", values[0], ", node", target.options.map_by);
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
Error reject_file(const OptionTarget& /*target*/, Values /*values*/) {
  return failure(ErrorClass::arg,
                 "-file is not supported; write the programs into a file for -configfile");
}

/// The parser replaces a lone -configfile before it looks at rows.
Error reject_configfile(const OptionTarget& /*target*/, Values /*values*/) {
  return failure(ErrorClass::arg, "-configfile FILE must be the only option of the line");
}

Error set_label(const OptionTarget& target, Values /*values*/) {
  target.options.label = true;
  return {};
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
    OptionRow{"bind-to", 1, "OBJECT", "bind ranks: none, hwthread, core, l3cache, numa, socket",
              set_bind_to},
    OptionRow{"map-by", 1, "OBJECT", "deal ranks over: node, hwthread, core, l3cache, numa, socket",
              set_map_by},
    OptionRow{"report-bindings", 0, "", "say where each rank is bound", set_report},
    OptionRow{"stdin", 1, "RANK|all|none", "who reads standard input (default rank 0)", set_stdin},
    OptionRow{"label l tag-output prepend-rank", 0, "", "begin each line of output with its rank",
              set_label},
    OptionRow{"timeout", 1, "SECONDS", "end the job after that time, with exit code 124",
              set_timeout},
    OptionRow{
        "on-failure", 1, "WHAT",
        "when a rank fails: abort (the standard) ends the job, continue lets the others go on",
        set_on_failure},
    OptionRow{"deadlock-timeout", 1, "SECONDS",
              "explain a job that stands still for that time (default 60, 0: never)",
              set_deadlock_timeout},
    OptionRow{"deadlock-abort", 0, "", "end such a job after that, with exit code 125",
              set_deadlock_abort},
    OptionRow{"host H hosts", 1, "A,B:N", "run on these hosts, N ranks on B before the next",
              set_hosts},
    OptionRow{"hostfile f machinefile", 1, "FILE", "the same from a file, a host a line",
              set_host_file},
    OptionRow{"ppn perhost npernode N", 1, "N", "ranks on each host before the next", set_per_host},
    OptionRow{"manager", 1, "NAME", "who starts them there: auto, slurm, prte, hydra", set_manager},
    OptionRow{"dry-run show", 0, "", "print the command line that this would become", set_show},
    OptionRow{"arch", 1, "NAME", "fail unless the machine is NAME (uname -m)", check_arch},
    OptionRow{"configfile", 1, "FILE", "read programs from FILE, one a line", reject_configfile},
    OptionRow{"verbose v", 0, "", "say what is done", set_verbose},
    OptionRow{"help h", 0, "", "print this text", set_help},
    OptionRow{"version V", 0, "", "print the version", set_version},
    // What scripts written for other launchers pass, and what holds here anyway.
    OptionRow{"file", 1, "", "", reject_file},
    OptionRow{"soft", 1, "", "", nullptr},
    OptionRow{"envall genvall", 0, "", "", nullptr},
    OptionRow{"oversubscribe", 0, "", "", set_oversubscribe},
    OptionRow{"allow-run-as-root", 0, "", "", set_allow_root},
    OptionRow{"quiet q use-hwthread-cpus nolocal exitcodes", 0, "", "", nullptr},
    OptionRow{"launcher bootstrap", 1, "", "", set_remote_shell},
    OptionRow{"rank-by", 1, "", "", nullptr},
    OptionRow{"mca gmca prtemca", 2, "", "", nullptr},
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
    bool found = false;
    for_each_name(row, [&](std::string_view known) { found = found || known == name; });
    if (found) return &row;
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
