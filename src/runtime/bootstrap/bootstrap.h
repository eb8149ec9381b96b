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

/// How a rank gets its rank from a launcher that is not Fulmar's, and exchanges a few values
/// with the other ranks before they can communicate.
namespace fulmar::runtime::bootstrap {

/// Processes that a launcher is to start, see mpi::SpawnCommand. The info has the keys for the
/// launcher: host, add-host, hostfile, add-hostfile, path, bind-to, map-by, arch, and those of its
/// own.
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
/// Thread rule: one call at a time, except `abort`, which may be called at any time before
/// `finalize`, which is the last one. All calls may block. Errors are of the class other; after one
/// of `publish`, `fence` or `lookup` the connection may be usable for `abort` only.
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
  /// How many processes the launcher has slots for, including running ones (MPI 5.0, 11.10.1);
  /// 0 if unknown.
  virtual std::uint32_t universe_size() { return 0; }
  /// For messages: "PMI-1", "PMIx".
  [[nodiscard]] virtual const char* protocol() const noexcept = 0;

  /// For each rank the number of its node according to the launcher; empty if unknown.
  /// Equal numbers are the same node; they have no other meaning.
  virtual base::Result<std::vector<std::uint32_t>> launcher_nodes() = 0;

  /// Publishes `value` (1 to wire::pmi_value_limit printable letters) under `key` of this rank,
  /// from the next fence on. A key is used once.
  virtual base::Error publish(std::string_view key, std::string_view value) = 0;
  /// Collective: returns when all ranks are in it; what they published before can be looked up
  /// then.
  virtual base::Error fence() = 0;
  /// The value that `rank` published under `key` before a fence. Requires that it did.
  virtual base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) = 0;

  /// Starts the programs as one job that gets `parent_port` from its own `parent_port()`. Returns
  /// when the launcher confirms the start. Fails (spawn) with the launcher's text.
  virtual base::Error spawn(std::span<const StartOrder> /*orders*/,
                            std::string_view /*parent_port*/) {
    return not_offered("cannot start further processes", base::ErrorClass::spawn);
  }
  /// The port of the process that spawned this job; empty for another job.
  virtual std::string parent_port() { return {}; }
  /// The launcher's name service. Fail as mpi::LaunchService does.
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
  /// Notifies the launcher that this rank will end normally soon. Collective. Only
  /// `abort` may be called afterwards.
  virtual base::Error finalize() = 0;

 protected:
  /// An error that lists the launchers that support it.
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
