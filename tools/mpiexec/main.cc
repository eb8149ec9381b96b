// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/version.h"
#include "mpiexec/handover.h"
#include "mpiexec/job.h"
#include "mpiexec/options.h"
#include "mpiexec/spawn.h"
#include "mpiexec/spawn_server.h"
#include "wire/launch/launch_message.h"

namespace {

constexpr int exit_code_usage = 2;

/// The kernel lays the arguments one after the other.
std::span<char> argument_memory(int argc, char** argv) {
  if (argc < 1) return {};
  char* const end = argv[argc - 1] + std::strlen(argv[argc - 1]) + 1;
  return {argv[0], static_cast<std::size_t>(end - argv[0])};
}

fulmar::mpiexec::Destination where_to(const fulmar::mpiexec::Options& options) {
  const fulmar::mpiexec::ManagerSearch search{
      {}, [](const char* name) -> const char* { return std::getenv(name); }};
  return destination_of(options, search, fulmar::mpiexec::own_host_name());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (arguments.size() == 2 && arguments[0] == fulmar::wire::spawn_server_option) {
    return fulmar::mpiexec::run_spawn_server(std::atoi(arguments[1].c_str()),
                                             argument_memory(argc, argv));
  }
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
    case fulmar::mpiexec::Action::show:
      break;
  }
  const auto destination = where_to(options.value());
  if (!destination.here) return fulmar::mpiexec::hand_over(options.value(), destination);
  if (options.value().action == fulmar::mpiexec::Action::show) {
    std::printf("mpiexec starts all %u ranks itself, on this machine\n",
                options.value().rank_count());
    return 0;
  }
  const fulmar::mpiexec::Inheritance inheritance = fulmar::mpiexec::prepare_process();
  return fulmar::mpiexec::run_job(options.value(), inheritance, argument_memory(argc, argv));
}
