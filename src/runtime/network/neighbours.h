// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "wire/node/job.h"

namespace fulmar::runtime {

/// The record, not that of `self`, of a rank of this node whose process has ended although it has
/// joined the job and not left MPI: ranks that wait for it would wait for ever. Nothing where all
/// live, or where process numbers cannot be compared (other pid name spaces).
///
/// Some system calls for each record: for long waits only. Any thread.
[[nodiscard]] std::optional<std::size_t> find_dead(std::span<const wire::RankRecord> records,
                                                   std::size_t self) noexcept;

}  // namespace fulmar::runtime
