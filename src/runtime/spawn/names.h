// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "mpi/spawn/launch_service.h"

namespace fulmar::runtime {

/// The option that says where names are kept.
inline constexpr const char* option_names = "FULMAR_NAMES";

/// A service whose names are kept where the option FULMAR_NAMES says (docs/names.md), so that jobs
/// find each other that have no launcher in common: a folder that both can read and write (`/dir`). All else goes to `launcher`. An empty `place` gives
/// `launcher` back; one that cannot be read gives a service whose names fail with a text that says why.
/// `job` is the own job's number: what it has published, only it can take back.
[[nodiscard]] std::unique_ptr<mpi::LaunchService> with_names(
    std::unique_ptr<mpi::LaunchService> launcher, std::string_view place, std::uint32_t job);

}  // namespace fulmar::runtime
