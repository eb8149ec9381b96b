// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/fd.h"

namespace fulmar::wire {

/// The memory file of a job segment, of its final size and sealed against any change of that;
/// zeros.
struct JobFile {
  base::UniqueFd fd;  ///< closed on exec
  std::uint64_t area_bytes = 0;
};

/// Makes the file for `ranks` ranks: nameless, so nothing is left when the last process has gone.
/// When the limit on file sizes (RLIMIT_FSIZE) forbids areas of `area_bytes`, smaller ones are
/// tried, down to min_area_bytes. Fails (no_mem) with the limit's name and value.
base::Result<JobFile> make_job_file(std::uint32_t ranks, std::uint64_t area_bytes);

}  // namespace fulmar::wire
