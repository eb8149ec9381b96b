// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/os/program_output.h"
#include "fulmar/doctor/child.h"
#include "fulmar/doctor/gather.h"
#include "runtime/bootstrap/detect.h"
#include "runtime/bootstrap/pmix_library.h"

/// Of the library's private interface (version node FULMAR_1), written like snprintf does.
extern "C" std::size_t fulmar_describe(char* text, std::size_t bytes);

namespace fulmar::doctor {

namespace {

namespace fs = std::filesystem;
using runtime::bootstrap::Launcher;

constexpr std::uint64_t question_ns = 5'000'000'000;

/// The first program of this name in PATH; empty if there is none.
std::string find_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code problem;
    if (fs::is_regular_file(file, problem) && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return {};
}

/// A version in one line: the first one, and for Hydra the one that has the number.
std::string version_of(const std::string& file) {
  const base::ProgramOutput output = base::run_program({file, "--version"}, question_ns);
  if (!output.good()) {
    return "which does not tell its version";
  }
  std::istringstream lines(output.text);
  std::string version;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (version.empty()) {
      version = line;
    } else if (version.starts_with("HYDRA") && line.starts_with("Version:")) {
      const std::size_t number = std::min(line.find_first_not_of(' ', 8), line.size());
      return "Hydra " + line.substr(number);
    }
  }
  return version;
}

std::string pmix_version(void* library) {
  const auto ask = reinterpret_cast<const char* (*)()>(::dlsym(library, "PMIx_Get_version"));
  std::string version = ask == nullptr ? "" : ask();
  return version.substr(0, std::min(version.find(" ("), version.find(',')));
}

std::string fabric_version(void* library) {
  const auto ask = reinterpret_cast<std::uint32_t (*)()>(::dlsym(library, "fi_version"));
  const std::uint32_t version = ask == nullptr ? 0 : ask();
  return version == 0 ? "" : fmt::format("libfabric {}.{}", version >> 16, version & 0xffff);
}

void gather_pmix(LauncherFacts& facts) {
  facts.pmix = open_library(runtime::bootstrap::pmix_library_candidates(), pmix_version);
  const char* const given = std::getenv(runtime::bootstrap::pmix_library_option);
  if (!facts.pmix.problem.empty() && given != nullptr && *given != '\0') {
    facts.pmix.problem =
        std::string(runtime::bootstrap::pmix_library_option) + ": " + facts.pmix.problem;
  }
}

void gather_start(LauncherFacts& facts) {
  const auto launcher = runtime::bootstrap::detect(runtime::bootstrap::real_surroundings());
  if (launcher.failed()) {
    facts.problem = launcher.error().text();
    return;
  }
  switch (launcher.value()) {
    case Launcher::none:
      facts.started_by = "no launcher: a program would be a job of one rank";
      break;
    case Launcher::own_mpiexec:
      facts.started_by = "Fulmar's mpiexec";
      break;
    case Launcher::pmi1:
      facts.started_by = "a launcher that speaks PMI-1";
      break;
    case Launcher::pmix:
      facts.started_by = "a launcher that speaks PMIx";
      break;
  }
}

void gather_mpiexec(LauncherFacts& facts) {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  const fs::path beside = self.parent_path() / "mpiexec";
  if (!problem && fs::exists(beside, problem)) {
    facts.own_mpiexec = beside.string();
  }
  facts.first_mpiexec = find_in_path("mpiexec");
  facts.first_is_own = !facts.first_mpiexec.empty() &&
                       version_of(facts.first_mpiexec).find("Fulmar") != std::string::npos;
}

void gather_managers(LauncherFacts& facts) {
  for (const char* name : {"srun", "prterun", "mpiexec.hydra"}) {
    const std::string file = find_in_path(name);
    if (!file.empty()) {
      facts.managers.push_back({name, file, version_of(file)});
    }
  }
  if (facts.first_is_own || facts.first_mpiexec.empty() || !facts.managers.empty()) {
    return;
  }
  const std::string version = version_of(facts.first_mpiexec);
  if (version.starts_with("Hydra") || version.starts_with("Intel(R) MPI")) {
    facts.managers.push_back({"mpiexec", facts.first_mpiexec, version});
  }
}

/// What the library says about FULMAR_ variables, behind "warnings".
std::vector<std::string> complaints() {
  std::string text(fulmar_describe(nullptr, 0) + 1, '\0');
  text.resize(fulmar_describe(text.data(), text.size()));
  constexpr std::string_view title = "\nwarnings\n";
  const std::size_t begin = text.find(title);
  std::vector<std::string> found;
  if (begin == std::string::npos) {
    return found;
  }
  std::istringstream lines(text.substr(begin + title.size()));
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
    if (!line.empty()) {
      found.push_back(line);
    }
  }
  return found;
}

void gather_library(Facts& facts) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  facts.library = version.data();
  Dl_info where{};
  if (::dladdr(reinterpret_cast<void*>(&fulmar_describe), &where) != 0 &&
      where.dli_fname != nullptr) {
    facts.library_file = where.dli_fname;
  }
}

}  // namespace

LibraryFacts open_library(const std::vector<std::string>& names,
                          std::string (*ask)(void* library)) {
  LibraryFacts facts;
  const auto answer = ask_child(
      [&] {
        std::string tried;
        for (const std::string& name : names) {
          void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
          if (library != nullptr) {
            return "+" + name + "\n" + ask(library);
          }
          tried = ::dlerror();
        }
        return tried;
      },
      question_ns);
  if (!answer) {
    facts.problem = names.back() + " crashes or hangs when it is opened";
  } else if (!answer->starts_with('+')) {
    facts.problem = *answer;
  } else {
    const std::size_t end = answer->find('\n');
    facts.file = answer->substr(1, end - 1);
    facts.version = answer->substr(end + 1);
  }
  return facts;
}

void gather_launchers(Facts& facts, const Progress& progress) {
  progress("launchers and libraries");
  gather_start(facts.launcher);
  gather_mpiexec(facts.launcher);
  gather_managers(facts.launcher);
  gather_pmix(facts.launcher);
  facts.fabric = open_library({"libfabric.so.1"}, fabric_version);
}

Facts gather(const Progress& progress) {
  Facts facts;
  utsname system{};
  ::uname(&system);
  facts.host = system.nodename;
  facts.system = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  gather_library(facts);
  facts.complaints = complaints();
  facts.network = gather_network(progress);
  facts.limits = gather_limits();
  progress("what the kernel allows");
  facts.kernel = gather_kernel();
  facts.rdma = gather_rdma();
  gather_launchers(facts, progress);
  return facts;
}

}  // namespace fulmar::doctor
