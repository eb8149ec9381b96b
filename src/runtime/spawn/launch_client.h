// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/os/fd.h"
#include "wire/launch/launch_message.h"

namespace fulmar::runtime {

/// The connection of this process to the mpiexec that serves it, see wire/launch/launch_message.h.
///
/// Thread rule: one call at a time. Errors are of class other where the connection is of no more
/// use: mpiexec has ended, or does not answer in time.
class LaunchClient {
 public:
  /// How long mpiexec has for an answer about a name, and to start a job. It is written for
  /// milliseconds; the rest is for machines that are full.
  static constexpr int name_limit_ms = 10'000;
  static constexpr int spawn_limit_ms = 600'000;

  /// Connects to the server whose address (NAME:SECRET) is given, and says hello. Refuses a server
  /// of another user.
  static base::Result<LaunchClient> connect(std::string_view address,
                                            const wire::LaunchHello& self);
  /// Over a socket pair.
  static base::Result<LaunchClient> open(base::UniqueFd socket, const wire::LaunchHello& self);

  /// One question and its answer, which may be an error.
  base::Result<wire::LaunchAnswer> ask(wire::LaunchKind kind, std::string_view body, int limit_ms);

  /// A job that is spawned with that port is watched until `forget`.
  void watch(std::string_view parent_port);
  /// The exit code of a job that is watched, if it has ended; else null. Does not wait.
  [[nodiscard]] const int* job_ended(std::string_view parent_port);
  void forget(std::string_view parent_port);
  /// Leaves in the proper way.
  void say_bye() noexcept;

 private:
  LaunchClient() = default;
  base::Error send(std::string_view frame, int limit_ms);
  base::Error receive(int limit_ms);
  base::Error take_frames();

  base::UniqueFd socket_;
  wire::LaunchReader reader_;
  std::uint32_t last_request_ = 0;
  std::map<std::uint32_t, wire::LaunchAnswer> answers_;
  /// By the port of the spawning process: exit codes of jobs that are watched, and that have ended.
  std::map<std::string, std::optional<int>, std::less<>> watched_;
};

}  // namespace fulmar::runtime
