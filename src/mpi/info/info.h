// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// An info object (MPI 5.0 chapter 10): texts by key, in the order in which the keys were first
/// set. There are few keys, so they are searched one by one.
struct Info : Object {
  static constexpr ObjectKind object_kind = ObjectKind::info;
  struct Entry {
    std::string key;
    std::string value;
  };

  Info() noexcept : Object(object_kind) {}

  /// The value of a key; nullptr where it is not set.
  [[nodiscard]] const std::string* find(std::string_view key) const noexcept;
  void set(std::string_view key, std::string_view value);
  /// Whether the key was set.
  [[nodiscard]] bool erase(std::string_view key);

  std::vector<Entry> entries;
};

/// What the keys of MPI_INFO_ENV say about how the process was started (MPI 5.0 section 11.2.2).
/// Unknown things stay empty; then the key is not set.
struct LaunchInfo {
  std::vector<std::string>
      command_line;           ///< program and arguments; read from the system when empty
  std::string max_processes;  ///< number of processes of this program that were asked for
  std::string errhandler;     ///< the initial one: "mpi_errors_are_fatal" and so on
};

/// MPI_INFO_ENV, and what is known about the launch of the process before initialisation.
struct EnvInfo : Info {
  LaunchInfo launch;
};

/// Adds command, argv, maxprocs, soft, host, arch, wdir and mpi_initial_errhandler. There is no
/// thread_level: it is the one requested before the program began, and no launcher has a way to.
void describe_process(Info& info, const LaunchInfo& launch);

/// MPI_INFO_ENV. Made by `runtime` before the first MPI call does anything, which also
/// fills in `env.launch`; described by init.
class PredefinedInfo {
 public:
  explicit PredefinedInfo(Library& library) noexcept;
  ~PredefinedInfo() { library_.undefine(env.handle); }
  PredefinedInfo(const PredefinedInfo&) = delete;
  PredefinedInfo& operator=(const PredefinedInfo&) = delete;

  EnvInfo env;

 private:
  Library& library_;
};

}  // namespace fulmar::mpi
