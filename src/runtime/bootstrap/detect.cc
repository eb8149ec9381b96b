// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/detect.h"

#include <sys/stat.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "wire/launch/pmi1.h"
#include "wire/node/job.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::ErrorClass;
using base::failure;

/// A launcher that sets a number of processes, and how to make it offer a supported protocol.
struct ForeignSign {
  const char* variable;
  long harmless;  ///< up to this value the process may as well be alone
  const char* launcher;
  const char* remedy;
};

constexpr ForeignSign foreign_signs[] = {
    {"SLURM_STEP_NUM_TASKS", 1, "Slurm's srun", "use srun --mpi=pmix or srun --mpi=pmi2"},
    {"OMPI_COMM_WORLD_SIZE", 1, "Open MPI's mpirun",
     "use prterun (Open MPI 5) or Fulmar's mpiexec, or unset OMPI_COMM_WORLD_SIZE"},
    {"PMI_SIZE", 1, "a launcher that speaks PMI",
     "let descriptor PMI_FD reach the program, or unset PMI_SIZE and PMI_RANK to run it alone"},
    {"PMI_RANK", 0, "a launcher that speaks PMI",
     "let descriptor PMI_FD reach the program, or unset PMI_RANK to run it alone"},
    {"MV2_COMM_WORLD_SIZE", 1, "MVAPICH's mpirun_rsh", "use mpiexec.hydra or Fulmar's mpiexec"},
    {"PALS_RANKID", 0, "HPE's PALS", "use mpiexec --pmi=pmix"},
    {"ALPS_APP_PE", 0, "Cray's aprun", "use a launcher that speaks PMI-1 or PMIx"},
    {"JSM_NAMESPACE_SIZE", 1, "IBM's jsrun", "use jsrun with PMIx"},
};

std::optional<long> number_in(const Surroundings& surroundings, const char* name) {
  const char* text = surroundings.variable(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return wire::parse_decimal(text).value_or(-1);
}

bool is_set(const Surroundings& surroundings, const char* name) {
  const char* text = surroundings.variable(name);
  return text != nullptr && *text != '\0';
}

/// A PMI socket that is not the one of our own mpiexec.
bool has_foreign_pmi(const Surroundings& surroundings) {
  const auto fd = number_in(surroundings, wire::env_pmi_fd);
  if (fd && *fd >= 0 && *fd <= INT_MAX && surroundings.is_socket(static_cast<int>(*fd))) {
    return fd != number_in(surroundings, wire::env_own_pmi_fd);
  }
  return is_set(surroundings, wire::env_pmi_port);
}

/// Fulmar's mpiexec sets PMI's variables for programs of other libraries.
bool has_own_pmi(const Surroundings& surroundings) {
  const auto fd = number_in(surroundings, wire::env_own_pmi_fd);
  return fd.has_value() && fd == number_in(surroundings, wire::env_pmi_fd);
}

base::Error find_foreign(const Surroundings& surroundings) {
  const bool own_pmi = has_own_pmi(surroundings);
  for (const ForeignSign& sign : foreign_signs) {
    const auto value = number_in(surroundings, sign.variable);
    if (own_pmi && std::string_view(sign.variable).starts_with("PMI_")) continue;
    if (!value || (*value >= 0 && *value <= sign.harmless)) continue;
    return failure(ErrorClass::other,
                   "%s=%s says that %s started this process as one of several, but there is no PMI "
                   "socket (PMI_FD) and no PMIx (PMIX_NAMESPACE); %s",
                   sign.variable, surroundings.variable(sign.variable), sign.launcher, sign.remedy);
  }
  return {};
}

}  // namespace

Surroundings real_surroundings() noexcept {
  const auto is_socket = [](int descriptor) {
    struct stat status{};
    return ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
  };
  return {[](const char* name) { return static_cast<const char*>(std::getenv(name)); }, is_socket};
}

base::Result<Launcher> detect(const Surroundings& surroundings) {
  if (has_foreign_pmi(surroundings)) return Launcher::pmi1;
  const bool pmix_rank = is_set(surroundings, "PMIX_RANK");
  if (is_set(surroundings, "PMIX_NAMESPACE") && pmix_rank) return Launcher::pmix;
  if (surroundings.variable(wire::env_job_fd) != nullptr ||
      surroundings.variable(wire::env_job_socket) != nullptr) {
    return Launcher::own_mpiexec;
  }
  if (pmix_rank) {
    return failure(ErrorClass::other,
                   "PMIX_RANK=%s is set, but not PMIX_NAMESPACE; pass all PMIX_ variables on, or "
                   "unset PMIX_RANK to run the program alone",
                   surroundings.variable("PMIX_RANK"));
  }
  if (const base::Error error = find_foreign(surroundings); error.failed()) return error;
  return Launcher::none;
}

}  // namespace fulmar::runtime::bootstrap
