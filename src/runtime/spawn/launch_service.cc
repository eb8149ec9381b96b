// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/launch_service.h"

#include <cstdlib>
#include <utility>

#include "runtime/job.h"
#include "runtime/spawn/foreign_service.h"
#include "runtime/spawn/launch_client.h"
#include "runtime/spawn/mpiexec_service.h"
#include "runtime/spawn/names.h"

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

std::unique_ptr<mpi::LaunchService> service_of_launcher(Job& job) {
  if (job.launcher() == bootstrap::Launcher::own_mpiexec) {
    return std::make_unique<MpiexecService>([&job] { return connect_to_mpiexec(job); });
  }
  if (job.bootstrap() != nullptr) return std::make_unique<ForeignService>(*job.bootstrap());
  return std::make_unique<MpiexecService>([&job] { return connect_to_own_server(job); });
}

}  // namespace

std::unique_ptr<mpi::LaunchService> make_launch_service(Job& job) {
  const char* names = std::getenv(option_names);
  return with_names(service_of_launcher(job), names == nullptr ? "" : names, job.job_id());
}

}  // namespace fulmar::runtime
