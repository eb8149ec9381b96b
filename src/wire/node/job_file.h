// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::wire {

/// The memory file of a job segment, of its final size, which is sealed;
/// initially zeros.
struct JobFile {
  base::UniqueFd fd;  ///< closed on exec
  std::uint64_t area_bytes = 0;
};

/// A nameless memory file of no bytes, closed on exec, which can be sealed. Not valid, with errno,
/// where the system has none. `name` shows in /proc only.
[[nodiscard]] base::UniqueFd make_memory_file(const char* name) noexcept;

/// Every rank maps the whole file. Where its address space is limited (RLIMIT_AS), this fraction of
/// the limit is for the file; the rest is for the program.
inline constexpr std::uint64_t address_space_fraction = 4;
/// `area_bytes`, reduced to fit a limit on address space, down to min_area_bytes.
std::uint64_t area_bytes_within(std::uint32_t ranks, std::uint64_t area_bytes,
                                std::uint64_t limit_bytes) noexcept;

/// Makes the file for `ranks` ranks: nameless, so it is freed when the last process has ended.
/// When this process' limit on file sizes (RLIMIT_FSIZE) or on address space (RLIMIT_AS), which the
/// ranks are assumed to have, too, forbids areas of `area_bytes`, smaller ones are made, down to
/// min_area_bytes. Fails (no_mem) with the limit's name and value.
base::Result<JobFile> make_job_file(std::uint32_t ranks, std::uint64_t area_bytes);

}  // namespace fulmar::wire
