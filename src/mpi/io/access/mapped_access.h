// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/io/access/access.h"

namespace fulmar::mpi {

/// Whether so many bytes of the stream are in the file in runs so short, and so near each other,
/// that copying them to or from mapped memory costs less than calls of the system.
[[nodiscard]] bool are_short_and_near(Count mean_run_bytes, Count bytes, Count span) noexcept;

// Move data between a block of memory and the file by way of mapped memory, where that is worth it
// and can be. Return how far that went, from `position` on: what is left is for calls of the
// system. Errors are left to those, too.

[[nodiscard]] Count write_mapped(const Access& access, Count position,
                                 std::span<const std::byte> from);
/// Data behind the end of the file are left to the caller.
[[nodiscard]] Count read_mapped(const Access& access, Count position, std::span<std::byte> to);

}  // namespace fulmar::mpi
