// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/spawn/launch_service.h"
#include "runtime/bootstrap/bootstrap.h"

namespace fulmar::runtime {

/// The service of a launcher that is not Fulmar's, by what its protocol offers. Whether a spawned job has
/// ended is not known here.
class ForeignService final : public mpi::LaunchService {
 public:
  /// `launcher` outlives this.
  explicit ForeignService(bootstrap::Bootstrap& launcher) : launcher_(launcher) {}

  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& commands,
                                       std::string_view parent_port) override;
  std::string parent_port() override;
  std::string spawned_job_ended(std::string_view /*parent_port*/) override { return {}; }
  base::Error publish(std::string_view service, std::string_view port,
                      const std::vector<mpi::InfoEntry>& info) override;
  base::Result<std::string> lookup(std::string_view service,
                                   const std::vector<mpi::InfoEntry>& info) override;
  base::Error unpublish(std::string_view service, std::string_view port,
                        const std::vector<mpi::InfoEntry>& info) override;

 private:
  bootstrap::Bootstrap& launcher_;
};

/// The working folder of this process; empty where it has none.
[[nodiscard]] std::string working_folder();

/// What a launcher is to start for a command: `file`, `soft`, `env`, `wdir` and `mpi_initial_errhandler` are
/// taken out of its info. Fails (spawn) with the key and its value.
[[nodiscard]] base::Result<bootstrap::StartOrder> order_of(const mpi::SpawnCommand& command,
                                                           const std::string& folder);

}  // namespace fulmar::runtime
