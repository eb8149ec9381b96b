// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fulmar/doctor/judge.h"

namespace fulmar::doctor {

namespace {

Finding launcher(std::string name, Verdict verdict, std::string found, std::string remedy = {}) {
  return {"launchers", std::move(name), verdict, std::move(found), std::move(remedy)};
}

Finding judge_start(const LauncherFacts& facts) {
  if (!facts.problem.empty()) {
    return launcher("environment", Verdict::fail, facts.problem,
                    "start the program as that says, or unset these variables");
  }
  return launcher("environment", Verdict::ok, "started by " + facts.started_by);
}

Finding judge_mpiexec(const LauncherFacts& facts) {
  if (facts.first_is_own) {
    return launcher("mpiexec", Verdict::ok, facts.first_mpiexec);
  }
  if (facts.own_mpiexec.empty()) {
    return launcher("mpiexec", Verdict::note, "none of Fulmar's is in PATH or beside this program",
                    "add the folder bin of the installation to PATH");
  }
  const std::string folder = std::filesystem::path(facts.own_mpiexec).parent_path().string();
  if (facts.first_mpiexec.empty()) {
    return launcher("mpiexec", Verdict::note, "not in PATH, but at " + facts.own_mpiexec,
                    "export PATH=" + folder + ":$PATH");
  }
  return launcher(
      "mpiexec", Verdict::note,
      fmt::format("{} is not Fulmar's, which is at {}", facts.first_mpiexec, facts.own_mpiexec),
      "export PATH=" + folder + ":$PATH");
}

/// Under prterun, and srun --mpi=pmix, ranks need the library.
Finding judge_pmix(const LauncherFacts& facts) {
  const LibraryFacts& pmix = facts.pmix;
  if (!pmix.file.empty()) {
    return launcher("libpmix", Verdict::ok,
                    pmix.file + (pmix.version.empty() ? "" : ", " + pmix.version));
  }
  const bool asked_for = pmix.problem.find("FULMAR_PMIX_LIBRARY") != std::string::npos;
  const bool wanted = std::any_of(
      facts.managers.begin(), facts.managers.end(),
      [](const LauncherProgram& each) { return each.name == "prterun" || each.name == "srun"; });
  if (asked_for) {
    return launcher("libpmix", Verdict::warn, pmix.problem, "correct or unset FULMAR_PMIX_LIBRARY");
  }
  if (wanted) {
    return launcher("libpmix", Verdict::note,
                    "not found; ranks need it under prterun and srun --mpi=pmix",
                    "apt install libpmix2, or set FULMAR_PMIX_LIBRARY to the launcher's own");
  }
  return launcher("libpmix", Verdict::ok,
                  "not found; needed under prterun and srun --mpi=pmix only");
}

Finding judge_adapter_library(const char* name, const LibraryFacts& library, bool devices,
                              const char* package) {
  if (!library.file.empty()) {
    return {"libraries",
            name,
            Verdict::ok,
            library.file + (library.version.empty() ? "" : ", " + library.version),
            {}};
  }
  if (!devices) {
    return {"libraries", name, Verdict::ok, "not found; not needed without an adapter for it", {}};
  }
  return {"libraries", name, Verdict::note, "not found, but there are RDMA adapters",
          fmt::format("apt install {}", package)};
}

}  // namespace

std::vector<Finding> judge_launchers(const Facts& facts) {
  const LauncherFacts& launchers = facts.launcher;
  const bool devices = facts.limits.rdma_devices;
  std::vector<Finding> findings = {
      judge_adapter_library("libfabric", facts.fabric, devices, "libfabric1"),
      judge_adapter_library("libibverbs", facts.rdma.library, devices,
                            "libibverbs1 ibverbs-providers"),
      judge_start(launchers), judge_mpiexec(launchers)};
  for (const LauncherProgram& manager : launchers.managers) {
    findings.push_back(launcher(manager.name, Verdict::ok, manager.file + ", " + manager.version));
  }
  if (launchers.managers.empty()) {
    findings.push_back(launcher("several hosts", Verdict::note,
                                "nobody is there who starts ranks on other hosts (srun, prterun, "
                                "mpiexec.hydra)",
                                "apt install mpich"));
  }
  findings.push_back(judge_pmix(launchers));
  return findings;
}

}  // namespace fulmar::doctor
