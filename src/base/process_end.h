// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace fulmar::base {

/// Whether a process has ended. One that has ended and that its parent has not waited for (a
/// zombie) counts as ended. Where pidfd_open() is not available only a process that is gone does.
[[nodiscard]] bool process_has_ended(pid_t pid) noexcept;

/// The number of this process's pid name space: process numbers can be compared
/// where it is the same. 0 where it is unknown.
[[nodiscard]] std::uint64_t pid_space() noexcept;

}  // namespace fulmar::base
