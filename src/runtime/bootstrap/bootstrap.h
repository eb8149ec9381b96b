// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wire/launch/spawn_info.h"

/// How a rank learns from a launcher that is not Fulmar's who it is, and exchanges a few values
/// with the other ranks before they can talk to each other.
namespace fulmar::runtime::bootstrap {

/// Processes that a launcher is to start, see mpi::SpawnCommand. The info is what is left for the launcher: the
/// keys host, add-host, hostfile, add-hostfile, path, bind-to, map-by, arch, and those of its own.
struct StartOrder {
  std::string program;
  std::vector<std::string> arguments;  ///< without the program's name
  std::uint32_t processes = 1;
  std::string folder;           ///< where they run
  wire::SpawnInfo environment;  ///< further variables
  wire::SpawnInfo info;
};

/// The connection of this process to its launcher.
///
/// Thread rule: calls of several threads come one after the other, but `abort`, which goes ahead, and
/// `finalize`, which is the last one. All calls may block. Errors are of the class other; after one of `publish`, `fence` or `lookup` the
/// connection may be of no more use but for `abort`.
class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// The number of the program in the launcher's command line.
  [[nodiscard]] int appnum() const noexcept { return appnum_; }
  /// How many processes there is room for, running ones included (MPI 5.0, 11.10.1), as the launcher
  /// sees it; 0 when it does not tell.
  virtual std::uint32_t universe_size() { return 0; }
  /// For messages: "PMI-1", "PMIx".
  [[nodiscard]] virtual const char* protocol() const noexcept = 0;

  /// For each rank the number of its node, as the launcher sees it; empty when it does not tell.
  /// Numbers have no meaning but that equal ones are the same node.
  virtual base::Result<std::vector<std::uint32_t>> launcher_nodes() = 0;

  /// Makes `value` (1 to wire::pmi_value_limit printable letters) known under `key` of this rank,
  /// from the next fence on. A key is used once.
  virtual base::Error publish(std::string_view key, std::string_view value) = 0;
  /// Collective: returns when all ranks are in it; what they published before can be looked up
  /// then.
  virtual base::Error fence() = 0;
  /// What `rank` published under `key` before a fence. Requires that it did.
  virtual base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) = 0;

  /// Starts the orders as one job that finds `parent_port` by its own `parent_port()`. Returns when the
  /// launcher says that they have been started. Fails (spawn) with the launcher's text.
  virtual base::Error spawn(std::span<const StartOrder> /*orders*/,
                            std::string_view /*parent_port*/) {
    return not_offered("cannot start further processes", base::ErrorClass::spawn);
  }
  /// The port of the process that spawned this job; empty for another job.
  virtual std::string parent_port() { return {}; }
  /// The launcher's service of names. Fail as mpi::LaunchService does.
  virtual base::Error publish_name(std::string_view /*service*/, std::string_view /*port*/) {
    return not_offered("keeps no names of services", base::ErrorClass::service);
  }
  virtual base::Result<std::string> lookup_name(std::string_view /*service*/) {
    return not_offered("keeps no names of services", base::ErrorClass::service);
  }
  virtual base::Error unpublish_name(std::string_view /*service*/) {
    return not_offered("keeps no names of services", base::ErrorClass::service);
  }

  /// Asks the launcher to end the job with this exit code, which is not 0. Does not wait.
  virtual void abort(int code, const char* text) noexcept = 0;
  /// Tells the launcher that this rank will end soon and in the proper way. Collective. Nothing but
  /// `abort` may be called afterwards.
  virtual base::Error finalize() = 0;

 protected:
  /// An error that says which launchers can.
  [[nodiscard]] base::Error not_offered(const char* what, base::ErrorClass error_class) const;

  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  int appnum_ = 0;
};

/// Any bytes as values (wire/value_text.h): the parts after the first under `KEY.1`, `KEY.2`...
base::Error publish_bytes(Bootstrap& bootstrap, const std::string& key,
                          std::span<const std::byte> bytes);
base::Result<std::vector<std::byte>> lookup_bytes(Bootstrap& bootstrap, std::uint32_t rank,
                                                  const std::string& key);

}  // namespace fulmar::runtime::bootstrap
