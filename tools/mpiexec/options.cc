// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/options.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "mpiexec/foreign_options.h"
#include "mpiexec/option_table.h"
#include "mpiexec/option_values.h"
#include "mpiexec/placement.h"
#include "mpiexec/topology.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// "-np" and "--np" are the same option; "-" alone and "--" are none.
std::string_view option_name(std::string_view argument) {
  if (argument.size() < 2 || argument[0] != '-' || argument == "--") return {};
  return argument.substr(argument[1] == '-' ? 2 : 1);
}

Error unknown_option(const std::string& argument, std::string_view name) {
  const std::string_view near = nearest_option(name);
  if (near.empty()) {
    return failure(ErrorClass::arg, "unknown option \"%s\"; mpiexec --help lists the options",
                   argument.c_str());
  }
  return failure(ErrorClass::arg,
                 "unknown option \"%s\"; did you mean \"%s%.*s\"? mpiexec --help lists the options",
                 argument.c_str(), near.size() > 1 ? "--" : "-", static_cast<int>(near.size()),
                 near.data());
}

Error refused_option(const std::string& argument, const ForeignOption& option) {
  return failure(ErrorClass::arg, "\"%s\" is an option of other launchers; here, %.*s",
                 argument.c_str(), static_cast<int>(option.reason.size()), option.reason.data());
}

/// Walks over the arguments and fills Options, one program after the other.
class Parser {
 public:
  explicit Parser(std::span<const std::string> arguments) : rest_(arguments) {}

  base::Result<Options> parse() {
    if (Error error = parse_variables(); error.failed()) return error;
    while (true) {
      Program program;
      if (Error error = parse_flags(program); error.failed()) return error;
      if (!runs()) return options_;
      if (Error error = parse_program(program); error.failed()) return error;
      options_.programs.push_back(std::move(program));
      if (rest_.empty()) return options_;
      rest_ = rest_.subspan(1);  // the ":"
    }
  }

 private:
  Error parse_variables() {
    const auto value_of = [](const char* name) {
      const char* const text = std::getenv(name);
      return std::string(text == nullptr ? "" : text);
    };
    Error error;
    if (const std::string text = value_of(env_deadlock_timeout); !text.empty()) {
      error = parse_deadlock_timeout(env_deadlock_timeout, text, options_);
    }
    if (const std::string text = value_of(env_timeout); error.ok() && !text.empty()) {
      error = parse_seconds(env_timeout, text, 0, options_.timeout_s);
    }
    if (const std::string text = value_of(env_universe); error.ok() && !text.empty()) {
      error = parse_universe(env_universe, text, options_);
    }
    return error;
  }

  /// Whether programs are to be named.
  [[nodiscard]] bool runs() const {
    return options_.action == Action::run || options_.action == Action::show;
  }

  Error parse_flags(Program& program) {
    while (!rest_.empty() && runs()) {
      if (rest_[0] == "--") {
        rest_ = rest_.subspan(1);
        return {};
      }
      const std::string_view name = option_name(rest_[0]);
      if (name.empty()) return {};
      if (Error error = parse_flag(program, name); error.failed()) return error;
    }
    return {};
  }

  Error parse_flag(Program& program, std::string_view name) {
    const std::string argument = rest_[0];
    const std::size_t equals = name.find('=');
    const std::string_view bare = name.substr(0, equals);
    const OptionRow* row = find_option(bare);
    const ForeignOption* foreign = row == nullptr ? find_foreign(bare) : nullptr;
    if (row == nullptr && foreign == nullptr) return unknown_option(argument, bare);
    if (foreign != nullptr && foreign->refused) return refused_option(argument, *foreign);
    std::vector<std::string> values;
    if (equals != std::string_view::npos) values.emplace_back(name.substr(equals + 1));
    rest_ = rest_.subspan(1);
    const std::size_t count = row == nullptr ? foreign->value_count : row->value_count;
    if (Error error = take_values(argument, count, values); error.failed()) return error;
    return row == nullptr ? Error{} : row->apply({options_, program}, values);
  }

  /// Takes the arguments behind an option until there are `count` values.
  Error take_values(const std::string& argument, std::size_t count,
                    std::vector<std::string>& values) {
    if (values.size() > count) {
      return failure(ErrorClass::arg, "\"%s\": this option takes no value", argument.c_str());
    }
    while (values.size() < count) {
      if (rest_.empty()) {
        return failure(ErrorClass::arg, "option \"%s\" needs %zu value%s, but the line ends here",
                       argument.c_str(), count, count == 1 ? "" : "s");
      }
      values.push_back(rest_[0]);
      rest_ = rest_.subspan(1);
    }
    return {};
  }

  Error parse_program(Program& program) {
    while (!rest_.empty() && rest_[0] != ":") {
      program.argv.push_back(rest_[0]);
      rest_ = rest_.subspan(1);
    }
    if (!program.argv.empty() && !program.argv[0].empty()) return {};
    return failure(ErrorClass::arg, "no program to run%s; usage: mpiexec -n N program arguments...",
                   options_.programs.empty() ? "" : " after \":\"");
  }

  std::span<const std::string> rest_;
  Options options_;
};

/// Splits a line of a configuration file at blanks; '...' and "..." keep blanks together.
Error split_line(const std::string& line, std::vector<std::string>& words) {
  std::string word;
  bool open = false;
  char quote = 0;
  for (const char letter : line) {
    if (quote != 0) {
      if (letter == quote)
        quote = 0;
      else
        word += letter;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      open = true;
    } else if (letter == ' ' || letter == '\t' || letter == '\r') {
      if (open) words.push_back(std::move(word));
      word.clear();
      open = false;
    } else {
      word += letter;
      open = true;
    }
  }
  if (quote != 0) {
    return failure(ErrorClass::arg, "-configfile: a quote is not closed in the line \"%s\"",
                   line.c_str());
  }
  if (open) words.push_back(std::move(word));
  return {};
}

/// The file's lines as one command line: lines are joined with ":".
base::Result<std::vector<std::string>> read_config(const std::string& name) {
  std::ifstream file(name);
  if (!file) {
    return failure(ErrorClass::arg, "-configfile \"%s\": %s", name.c_str(), std::strerror(errno));
  }
  std::vector<std::string> words;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line[start] == '#') continue;
    if (!words.empty()) words.emplace_back(":");
    if (Error error = split_line(line, words); error.failed()) return error;
  }
  if (file.bad()) {  // a folder can be opened, but not read
    return failure(ErrorClass::arg, "-configfile \"%s\": %s", name.c_str(), std::strerror(errno));
  }
  return words;
}

/// Sums are 64 bits wide here: every program alone may ask for the maximum.
Error check_totals(const Options& options) {
  std::uint64_t total = 0;
  for (const Program& program : options.programs) total += program.count;
  if (total > wire::max_job_ranks) {
    return failure(ErrorClass::arg, "the programs ask for %llu ranks, at most %u are possible",
                   static_cast<unsigned long long>(total), wire::max_job_ranks);
  }
  if (options.stdin_to == StdinTo::rank && options.stdin_rank >= total) {
    return failure(ErrorClass::arg, "--stdin is %u, but the ranks are 0 to %llu",
                   options.stdin_rank, static_cast<unsigned long long>(total - 1));
  }
  return {};
}

/// The ranks that a lone program without -n gets; 0: nothing says so.
std::uint64_t places_for(const Options& options) {
  if (options.ranks_per_object > 0 && options.hosts.empty()) {
    const auto processors = read_topology(allowed_processors(), "/sys", TopologyDetail::all);
    return std::uint64_t{options.ranks_per_object} * count_objects(processors, options.map_by);
  }
  return options.hosts.empty() ? options.per_host : places_of(options.hosts);
}

/// Reads the file of hosts and puts -ppn in force. A lone program without -n gets a rank for each
/// place, as it does from the launchers for several hosts.
Error settle_hosts(Options& options) {
  if (!options.host_file.empty()) {
    const auto hosts = read_host_file(options.host_file);
    if (hosts.failed()) return hosts.error();
    add_hosts(options.hosts, hosts.value());
  }
  if (options.per_host > 0) {
    for (Host& host : options.hosts) host.places = options.per_host;
  }
  Program& first = options.programs[0];
  if (options.programs.size() > 1 || first.counted) return {};
  const std::uint64_t places = places_for(options);
  if (places == 0) return {};
  if (places > wire::max_job_ranks) {
    return failure(ErrorClass::arg, "there are %llu places, at most %u ranks are possible",
                   static_cast<unsigned long long>(places), wire::max_job_ranks);
  }
  first.count = static_cast<std::uint32_t>(places);
  return {};
}

}  // namespace

std::uint32_t Options::rank_count() const {
  std::uint32_t total = 0;
  for (const Program& program : programs) total += program.count;
  return total;
}

base::Result<Options> parse_options(std::span<const std::string> arguments) {
  std::vector<std::string> from_file;
  if (arguments.size() == 2 && option_name(arguments[0]) == "configfile") {
    auto words = read_config(arguments[1]);
    if (words.failed()) return words.error();
    from_file = std::move(*words);
    arguments = from_file;
  }
  auto parsed = Parser(arguments).parse();
  if (parsed.failed() || parsed->programs.empty()) return parsed;
  for (Program& program : parsed->programs) {
    if (program.wdir.empty()) program.wdir = parsed->wdir;
    if (program.path.empty()) program.path = parsed->path;
  }
  if (Error error = settle_hosts(*parsed); error.failed()) return error;
  if (Error error = check_totals(*parsed); error.failed()) return error;
  return parsed;
}

std::string help_text() {
  std::string text =
      "usage: mpiexec [options] -n N program arguments... [: -n M program arguments...]\n"
      "Starts the ranks of an MPI job on this machine; on several hosts, through srun, prterun or\n"
      "mpiexec.hydra. One dash or two, both work.\n\n";
  for (const OptionRow& row : option_rows()) {
    if (row.help.empty()) continue;
    std::string left = "  ";
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const std::size_t at = std::min(rest.find(' '), rest.size());
      left += at > 1 ? "--" : "-";
      left += rest.substr(0, at);
      rest.remove_prefix(std::min(at + 1, rest.size()));
      if (!rest.empty()) left += ", ";
    }
    left += ' ';
    left += row.values;
    if (left.size() > 30)
      left += "\n" + std::string(31, ' ');
    else
      left.resize(31, ' ');
    text += left + std::string(row.help) + "\n";
  }
  return text;
}

}  // namespace fulmar::mpiexec
