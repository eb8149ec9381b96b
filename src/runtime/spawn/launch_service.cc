// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/launch_service.h"

#include <cstdlib>

namespace fulmar::runtime {
namespace {

/// Of a process whose launcher starts nothing and keeps no names.
class NoLaunchService final : public mpi::LaunchService {
 public:
  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& /*commands*/,
                                       std::string_view /*parent_port*/) override {
    return base::failure(base::ErrorClass::spawn, "this launcher cannot start further processes");
  }
  std::string parent_port() override {
    const char* port = std::getenv("FULMAR_PARENT_PORT");
    return port == nullptr ? std::string() : std::string(port);
  }
  std::string spawned_job_ended(std::string_view /*parent_port*/) override { return {}; }
  base::Error publish(std::string_view /*service*/, std::string_view /*port*/,
                      const std::vector<mpi::InfoEntry>& /*info*/) override {
    return none();
  }
  base::Result<std::string> lookup(std::string_view /*service*/,
                                   const std::vector<mpi::InfoEntry>& /*info*/) override {
    return none();
  }
  base::Error unpublish(std::string_view /*service*/, std::string_view /*port*/,
                        const std::vector<mpi::InfoEntry>& /*info*/) override {
    return none();
  }

 private:
  static base::Error none() {
    return base::failure(base::ErrorClass::service, "this launcher keeps no names of services");
  }
};

}  // namespace

std::unique_ptr<mpi::LaunchService> make_launch_service(Job& /*job*/) {
  return std::make_unique<NoLaunchService>();
}

}  // namespace fulmar::runtime
