// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/spawn/launch_service.h"
#include "runtime/bootstrap/bootstrap.h"

namespace fulmar::runtime {

/// The option that says how long spawned processes have to connect, in seconds.
inline constexpr const char* option_spawn_timeout = "FULMAR_SPAWN_TIMEOUT";

/// The service of a launcher that is not Fulmar's, by what its protocol offers.
///
/// Such a launcher does not say that a spawned job has ended, or that a program was not there: so a job that has
/// not connected within `Limits::connect_ns` of its spawn counts as one that has ended.
class ForeignService final : public mpi::LaunchService {
 public:
  struct Limits {
    std::uint64_t connect_ns = 60'000'000'000;  ///< 0: none
    /// Whether all processes of this job are on one node, so that programs which are not there can be
    /// refused before the launcher is asked.
    bool one_node = false;
  };
  /// `launcher` outlives this.
  ForeignService(bootstrap::Bootstrap& launcher, const Limits& limits)
      : launcher_(launcher), limits_(limits) {}

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
  bootstrap::Bootstrap& launcher_;
  Limits limits_;
  std::map<std::string, std::uint64_t, std::less<>> spawned_ns_;  ///< by port: when
};

/// The working folder of this process; empty where it has none.
[[nodiscard]] std::string working_folder();

/// Whether a program can be started: a name with a slash from `order.folder`, another one in the folders of the
/// info key `path` and of PATH, or in `order.folder`.
[[nodiscard]] bool is_there(const bootstrap::StartOrder& order);

/// What a launcher is to start for a command: `file`, `soft`, `env`, `wdir` and `mpi_initial_errhandler` are
/// taken out of its info. Fails (spawn) with the key and its value.
[[nodiscard]] base::Result<bootstrap::StartOrder> order_of(const mpi::SpawnCommand& command,
                                                           const std::string& folder);

}  // namespace fulmar::runtime
