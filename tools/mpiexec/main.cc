// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/version.h"
#include "mpiexec/job.h"
#include "mpiexec/options.h"
#include "mpiexec/spawn.h"

namespace {

constexpr int exit_code_usage = 2;

/// The kernel lays the arguments one after the other.
std::span<char> argument_memory(int argc, char** argv) {
  if (argc < 1) return {};
  char* const end = argv[argc - 1] + std::strlen(argv[argc - 1]) + 1;
  return {argv[0], static_cast<std::size_t>(end - argv[0])};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto options = fulmar::mpiexec::parse_options(arguments);
  if (options.failed()) {
    std::fprintf(stderr, "mpiexec: %s\n", options.error().text().c_str());
    return exit_code_usage;
  }
  switch (options.value().action) {
    case fulmar::mpiexec::Action::help:
      std::fputs(fulmar::mpiexec::help_text().c_str(), stdout);
      return 0;
    case fulmar::mpiexec::Action::version:
      std::printf("mpiexec (Fulmar) %s\n", fulmar::base::version);
      return 0;
    case fulmar::mpiexec::Action::run:
      break;
  }
  const fulmar::mpiexec::Inheritance inheritance = fulmar::mpiexec::prepare_process();
  return fulmar::mpiexec::run_job(options.value(), inheritance, argument_memory(argc, argv));
}
