// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fulmar::mpi {

/// An info key with its value, as the program gave it.
using InfoEntry = std::pair<std::string, std::string>;

/// One element of MPI_Comm_spawn_multiple; MPI_Comm_spawn has one.
struct SpawnCommand {
  std::string program;
  std::vector<std::string> arguments;  ///< without the program's name
  int processes = 0;                   ///< maxprocs
  std::vector<InfoEntry> info;
};

/// The services of the launcher after the start: start more processes, and keep
/// names of ports (MPI 5.0, 11.8.2 and 11.9.4). Implemented by `runtime` for each launcher.
///
/// Thread rule: without the lock of the library, but for `spawned_job_ended`: a call may take as long
/// as a launcher does. Any thread for the service that a library has (library.launcher); one call at
/// a time for the services of the launchers, which it is made of (runtime/spawn/serialized_service.h).
class LaunchService {
 public:
  LaunchService() = default;
  LaunchService(const LaunchService&) = delete;
  LaunchService& operator=(const LaunchService&) = delete;
  virtual ~LaunchService() = default;

  /// Starts the commands as one job whose processes find `parent_port` by their own
  /// `parent_port()`. Returns one error class for each process asked for, in order, MPI_SUCCESS for
  /// those that were started. Fails (spawn, with the launcher's text) where none was.
  virtual base::Result<std::vector<int>> spawn(const std::vector<SpawnCommand>& commands,
                                               std::string_view parent_port) = 0;

  /// The port of the process that spawned this job; empty for a job that was not spawned.
  [[nodiscard]] virtual std::string parent_port() = 0;

  /// Whether a job that this process spawned has ended before it connected: what an accept of
  /// spawned processes waits for no longer. The text says how it ended; empty: as far as is known,
  /// it runs. Cheap enough to be asked every few milliseconds.
  [[nodiscard]] virtual std::string spawned_job_ended(std::string_view parent_port) = 0;
  /// After a `spawn` that succeeded: nobody asks about that job any more.
  virtual void forget_spawned_job(std::string_view parent_port) = 0;

  /// MPI_Publish_name. Fails: service (the name is taken, or the server is dead), with a text.
  virtual base::Error publish(std::string_view service, std::string_view port,
                              const std::vector<InfoEntry>& info) = 0;
  /// MPI_Lookup_name. Fails: name (it is not published), service.
  virtual base::Result<std::string> lookup(std::string_view service,
                                           const std::vector<InfoEntry>& info) = 0;
  /// MPI_Unpublish_name. Fails: service (it was not published by this job).
  virtual base::Error unpublish(std::string_view service, std::string_view port,
                                const std::vector<InfoEntry>& info) = 0;
};

}  // namespace fulmar::mpi
