// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

namespace fulmar::vipl {

/// SISCI's numbers of the processes of the job, in the order of ranks.
[[nodiscard]] std::vector<std::uint32_t> nodes_of_job();
/// Those with this name in SISCI's node file, or the one whose rank it is.
[[nodiscard]] std::vector<std::uint32_t> nodes_named(const char* name);

}  // namespace fulmar::vipl
