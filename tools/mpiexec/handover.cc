// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/handover.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "mpiexec/environment.h"
#include "mpiexec/program_abi.h"
#include "mpiexec/shell.h"

namespace fulmar::mpiexec {
namespace {

/// The path of a PMIx library does not belong to an outer job. Hydra would take the variable's time for that of
/// the command line.
bool is_kept(std::string_view name) {
  if (name == env_timeout) return false;
  return !describes_outer_job(name) || name == "PMIX_PREFIX" || name.starts_with("PMIX_MCA_");
}

std::vector<std::string> kept_environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view setting(*entry);
    if (is_kept(setting.substr(0, setting.find('=')))) kept.emplace_back(setting);
  }
  return kept;
}

int report(const std::string& text, int exit_code) {
  std::fprintf(stderr, "mpiexec: %s\n", text.c_str());
  return exit_code;
}

/// Replaces this process. Returns the exit code when that is not possible.
int become(const Handover& handover, std::vector<std::string> environment) {
  for (const EnvSetting& setting : handover.settings) {
    std::erase_if(environment,
                  [&](const std::string& entry) { return entry.starts_with(setting.name + "="); });
    environment.push_back(setting.name + "=" + setting.value);
  }
  if (handover.no_input) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || ::dup2(null, 0) < 0) return report("cannot open /dev/null", 1);
  }
  std::vector<char*> argv;
  for (const std::string& word : handover.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> variables;
  for (const std::string& entry : environment)
    variables.push_back(const_cast<char*>(entry.c_str()));
  variables.push_back(nullptr);
  ::execvpe(argv[0], argv.data(), variables.data());
  return report("cannot start " + handover.words[0] + ": " + std::strerror(errno), 1);
}

}  // namespace

Destination destination_of(const Options& options, const ManagerSearch& search,
                           std::string_view self) {
  Destination destination;
  const bool chosen = options.manager != Manager::automatic;
  if (options.hosts.empty()) {
    const bool wide = in_wide_allocation(search);
    destination.here = !chosen && !wide;
    if (chosen && !wide && options.manager != Manager::slurm) {
      destination.shares = {{std::string(self), options.rank_count()}};
    }
    return destination;
  }
  destination.shares = share_ranks(options.hosts, options.rank_count(), options.dealing);
  const auto is_here = [&](const Share& share) { return is_this_machine(share.host, self); };
  destination.here =
      !chosen && std::all_of(destination.shares.begin(), destination.shares.end(), is_here);
  for (Share& share : destination.shares) {
    if (share.host == "localhost" && !self.empty()) share.host = self;  // elsewhere, another host
  }
  return destination;
}

std::string shell_text(const Handover& handover) {
  std::string text;
  for (const EnvSetting& setting : handover.settings) {
    text += setting.name + "=" + shell_word(setting.value) + " ";
  }
  return text + shell_line(handover.words) + (handover.no_input ? " </dev/null" : "");
}

int hand_over(const Options& options, const Destination& destination) {
  const char* const path = std::getenv("PATH");
  const ManagerSearch search{path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path,
                             [](const char* name) -> const char* { return std::getenv(name); }};
  const auto manager = find_manager(options.manager, search);
  if (manager.failed()) {
    std::string hosts;
    for (const Share& share : destination.shares) {
      hosts += (hosts.empty() ? "" : ", ") + share.host;
      if (hosts.size() > 200) break;
    }
    return report(hosts + (hosts.empty() ? "" : ": ") + manager.error().text(), 1);
  }
  const auto folders = library_folders(options.abi, own_library_folder());
  if (folders.failed()) return report(folders.error().text(), 2);
  std::vector<std::string> environment = kept_environment();
  offer_libraries(folders.value(), environment);
  const auto handover = translate(options, destination.shares, manager.value(), environment);
  if (handover.failed()) return report(handover.error().text(), 2);
  for (const std::string& note : handover.value().notes) report(note, 0);
  if (options.action == Action::show) {
    std::printf("%s\n", shell_text(handover.value()).c_str());
    return 0;
  }
  if (options.verbose) report("becoming " + shell_text(handover.value()), 0);
  return become(handover.value(), environment);
}

}  // namespace fulmar::mpiexec
