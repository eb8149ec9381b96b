// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/environment.h"

#include <algorithm>
#include <array>

#include "wire/launch/launch_message.h"
#include "wire/launch/pmi1.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {
namespace {

/// Starts of names that launchers give to the ranks of a job.
constexpr std::array<std::string_view, 12> outer_prefixes = {
    "PMI_",         "PMIX_",           "PMI2_",         "OMPI_COMM_WORLD_",
    "OMPI_MCA_ess", "OMPI_MCA_orte_",  "OMPI_MCA_pmix", "OMPI_UNIVERSE_SIZE",
    "OMPI_APP_CTX", "OMPI_FIRST_RANK", "HYDI_",         "PRTE_MCA_ess",
};
constexpr std::array<std::string_view, 20> outer_names = {
    wire::env_own_pmi_fd,
    wire::env_job_fd,
    wire::env_job_socket,
    wire::env_rank,
    wire::env_size,
    wire::env_local_rank,
    wire::env_local_size,
    wire::env_appnum,
    wire::env_program_size,
    wire::env_launch_socket,
    wire::env_parent_port,
    wire::env_universe_size,
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "OMPI_FILE_LOCATION",
    "OMPI_NUM_APP_CTX",
    "OMPI_ARGV",
    "OMPI_COMMAND",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_mpi_oversubscribe",
};

std::string_view name_of(std::string_view setting) { return setting.substr(0, setting.find('=')); }

void set_variable(std::vector<std::string>& environment, const EnvSetting& setting) {
  std::erase_if(environment,
                [&](const std::string& entry) { return name_of(entry) == setting.name; });
  environment.push_back(setting.name + "=" + setting.value);
}

void apply_rules(std::vector<std::string>& environment, const EnvRules& rules) {
  if (rules.passed) {
    std::erase_if(environment, [&](const std::string& entry) {
      return std::find(rules.passed->begin(), rules.passed->end(), name_of(entry)) ==
             rules.passed->end();
    });
  }
}

}  // namespace

bool describes_outer_job(std::string_view name) {
  return std::any_of(outer_prefixes.begin(), outer_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(outer_names.begin(), outer_names.end(), name) != outer_names.end();
}

std::vector<std::string> program_environment(const char* const* outer, const EnvRules& global,
                                             const EnvRules& program) {
  std::vector<std::string> environment;
  for (const char* const* entry = outer; *entry != nullptr; ++entry) {
    if (!describes_outer_job(name_of(*entry))) environment.emplace_back(*entry);
  }
  apply_rules(environment, global);
  apply_rules(environment, program);
  for (const EnvSetting& setting : global.settings) set_variable(environment, setting);
  for (const EnvSetting& setting : program.settings) set_variable(environment, setting);
  return environment;
}

std::vector<std::string> rank_environment(const RankVariables& variables) {
  const auto entry = [](const char* name, std::uint64_t value) {
    return std::string(name) + "=" + std::to_string(value);
  };
  std::vector<std::string> entries = {
      entry(wire::env_job_fd, static_cast<std::uint64_t>(variables.job_fd)),
      entry(wire::env_rank, variables.rank),
      entry(wire::env_size, variables.size),
      entry(wire::env_local_rank, variables.rank),
      entry(wire::env_local_size, variables.size),
      entry(wire::env_appnum, variables.appnum),
      entry(wire::env_program_size, variables.program_size),
  };
  if (!variables.job_socket.empty()) {
    entries.push_back(std::string(wire::env_job_socket) + "=" + std::string(variables.job_socket));
  }
  if (!variables.launch_socket.empty()) {
    entries.push_back(std::string(wire::env_launch_socket) + "=" +
                      std::string(variables.launch_socket));
  }
  if (!variables.parent_port.empty()) {
    entries.push_back(std::string(wire::env_parent_port) + "=" +
                      std::string(variables.parent_port));
  }
  if (variables.universe_size > 0) {
    entries.push_back(entry(wire::env_universe_size, variables.universe_size));
  }
  if (variables.pmi_fd >= 0) {
    const auto fd = static_cast<std::uint64_t>(variables.pmi_fd);
    entries.push_back(entry(wire::env_pmi_fd, fd));
    entries.push_back(entry(wire::env_own_pmi_fd, fd));
    entries.push_back(entry(wire::env_pmi_rank, variables.rank));
    entries.push_back(entry(wire::env_pmi_size, variables.size));
  }
  return entries;
}

const char* find_variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (name_of(entry) == name && entry.size() > name.size())
      return entry.c_str() + name.size() + 1;
  }
  return nullptr;
}

}  // namespace fulmar::mpiexec
