// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fulmar::runtime {

/// Where names of services are kept beyond one launcher.
///
/// Thread rule: one call at a time. Errors are those of mpi::LaunchService.
class NameStore {
 public:
  NameStore() = default;
  NameStore(const NameStore&) = delete;
  NameStore& operator=(const NameStore&) = delete;
  virtual ~NameStore() = default;

  virtual base::Error publish(std::string_view service, std::string_view port) = 0;
  virtual base::Result<std::string> lookup(std::string_view service) = 0;
  virtual base::Error unpublish(std::string_view service, std::string_view port) = 0;
};

/// Names as files of a folder, one for each: `fulmar-name-SERVICE`, with letters that file systems do not
/// like as %XX. A file belongs to the user, is readable by nobody else (mode 600), comes into being as a whole
/// (by link), and one that another user has put there, or that others may read, is not believed.
/// A name whose publisher was a process of this host (same boot, same pid name space) that has ended
/// counts as not published, and its file is removed. On a folder that several hosts share names of processes on
/// other hosts stay until they are unpublished. `job` is the own job's number.
[[nodiscard]] std::unique_ptr<NameStore> names_in_folder(std::string folder, std::uint32_t job);

}  // namespace fulmar::runtime
