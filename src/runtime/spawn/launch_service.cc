// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/launch_service.h"

#include <cstdlib>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/spawn/foreign_service.h"
#include "runtime/spawn/launch_client.h"
#include "runtime/spawn/mpiexec_service.h"
#include "runtime/spawn/names.h"
#include "runtime/spawn/serialized_service.h"
#include "wire/launch/pmi1.h"

namespace fulmar::runtime {
namespace {

wire::LaunchHello hello_of(const Job& job) { return {{}, job.job_id(), job.rank()}; }

base::Result<LaunchClient> connect_to_mpiexec(const Job& job) {
  const char* address = std::getenv(wire::env_launch_socket);
  if (address == nullptr || *address == '\0') {
    return base::failure(base::ErrorClass::other,
                         "%s is not set; let it reach the program, from an mpiexec of this version",
                         wire::env_launch_socket);
  }
  return LaunchClient::connect(address, hello_of(job));
}

base::Result<LaunchClient> connect_to_own_server(const Job& job) {
  auto socket = start_spawn_server();
  if (socket.failed()) return socket.error();
  return LaunchClient::open(std::move(*socket), hello_of(job));
}

ForeignService::Limits limits_of(const Job& job) {
  ForeignService::Limits limits;
  limits.one_node = job.node_count() == 1;
  const char* text = std::getenv(option_spawn_timeout);
  const long seconds = text == nullptr ? -1 : wire::parse_decimal(text).value_or(-1);
  constexpr long most_seconds = 1'000'000'000;
  if (seconds >= 0 && seconds <= most_seconds) {
    limits.connect_ns = static_cast<std::uint64_t>(seconds) * 1'000'000'000;
  }
  return limits;
}

std::unique_ptr<mpi::LaunchService> service_of_launcher(Job& job) {
  if (job.launcher() == bootstrap::Launcher::own_mpiexec) {
    return std::make_unique<MpiexecService>([&job] { return connect_to_mpiexec(job); });
  }
  if (job.bootstrap() != nullptr) {
    return std::make_unique<ForeignService>(*job.bootstrap(), limits_of(job));
  }
  return std::make_unique<MpiexecService>([&job] { return connect_to_own_server(job); });
}

}  // namespace

std::unique_ptr<mpi::LaunchService> make_launch_service(Job& job) {
  const char* names = std::getenv(option_names);
  return std::make_unique<SerializedService>(
      with_names(service_of_launcher(job), names == nullptr ? "" : names, job.job_id()));
}

}  // namespace fulmar::runtime
