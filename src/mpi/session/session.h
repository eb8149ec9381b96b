// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mpi/errhandler/errhandler.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// A session (MPI 5.0 section 11.3): one user of MPI in this process, with an error handler of its
/// own. Made and ended by `runtime`, which brings MPI up with the first user and down with the
/// last.
struct Session : ErrorHolder {
  static constexpr ObjectKind object_kind = ObjectKind::session;

  explicit Session(int level) noexcept : ErrorHolder(object_kind), thread_level(level) {
    name = "a session";
  }

  int thread_level;
  /// Names of process sets by their numbers (mpi/session/process_sets.h): once there, always there.
  std::vector<std::string> process_sets;
};

}  // namespace fulmar::mpi
