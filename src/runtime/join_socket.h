// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::runtime {

/// The segment from mpiexec, not validated yet.
struct JoinTicket {
  base::UniqueFd segment;
  pid_t listener = 0;  ///< must be the mpiexec that the segment's header names
};

/// Whether a descriptor is a memory file whose size is sealed: a mapping of it
/// cannot fault.
[[nodiscard]] bool is_sealed_memory(int descriptor) noexcept;

/// Asks the mpiexec that listens under the abstract name `name` (the value of FULMAR_JOB_SOCKET)
/// for the job segment of this rank's generation, see wire/node/join.h. Waits at most 60 s per
/// step. Fails (other) with a text when the name is none of mpiexec's, nothing listens, the
/// listener belongs to another user, it refuses (another process has the rank's record), or the
/// received descriptor is no sealed memory file.
base::Result<JoinTicket> ask_for_segment(std::string_view name, std::uint32_t rank);

}  // namespace fulmar::runtime
