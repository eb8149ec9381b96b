// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <functional>
#include <optional>

#include "mpi/spawn/launch_service.h"
#include "runtime/spawn/launch_client.h"

namespace fulmar::runtime {

/// The service of Fulmar's own mpiexec: of the one that started this process, or of one that a
/// process without a launcher starts beside itself.
class MpiexecService final : public mpi::LaunchService {
 public:
  /// Called when the service is needed first, and again after it was lost.
  using Connect = std::function<base::Result<LaunchClient>()>;
  explicit MpiexecService(Connect connect) : connect_(std::move(connect)) {}
  ~MpiexecService() override;

  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& commands,
                                       std::string_view parent_port) override;
  std::string parent_port() override;
  std::string spawned_job_ended(std::string_view parent_port) override;
  void forget_spawned_job(std::string_view parent_port) override;
  base::Error publish(std::string_view service, std::string_view port,
                      const std::vector<mpi::InfoEntry>& info) override;
  base::Result<std::string> lookup(std::string_view service,
                                   const std::vector<mpi::InfoEntry>& info) override;
  base::Error unpublish(std::string_view service, std::string_view port,
                        const std::vector<mpi::InfoEntry>& info) override;

 private:
  base::Error connect();
  base::Result<wire::LaunchAnswer> ask(wire::LaunchKind kind, std::string_view body, int limit_ms);
  base::Result<std::string> ask_about_name(wire::LaunchKind kind, std::string_view service,
                                           std::string_view port);

  Connect connect_;
  std::optional<LaunchClient> client_;
};

/// FULMAR_PARENT_PORT, or nothing.
[[nodiscard]] std::string parent_port_in_environment();

/// Starts an mpiexec that serves this process alone (`mpiexec --spawn-server`): the one that lies where this
/// library was installed, else one in PATH. Fails (other) with what was tried.
[[nodiscard]] base::Result<base::UniqueFd> start_spawn_server();

}  // namespace fulmar::runtime
