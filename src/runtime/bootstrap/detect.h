// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"

namespace fulmar::runtime::bootstrap {

enum class Launcher {
  none,         ///< a program started alone
  own_mpiexec,  ///< wire/node/job.h
  pmi1,         ///< wire/launch/pmi1.h
  pmix,         ///< pmix_abi.h
};

/// The environment that `detect` reads: the real one, or a test's.
struct Surroundings {
  /// The value of a variable; null when it is not set.
  const char* (*variable)(const char* name);
  /// Whether a descriptor is an open socket.
  bool (*is_socket)(int descriptor);
};
[[nodiscard]] Surroundings real_surroundings() noexcept;

/// The launcher of this process, according to its environment. The innermost one counts: a launcher
/// that runs inside a job of another one leaves that one's variables in place, but Fulmar's mpiexec
/// removes those of all others. Fails (other) where a launcher has started several processes
/// without a protocol by which they can find each other: else each of them would be rank 0 of a job
/// of its own.
base::Result<Launcher> detect(const Surroundings& surroundings);

}  // namespace fulmar::runtime::bootstrap
