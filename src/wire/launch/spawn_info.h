// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

/// The info of MPI_Comm_spawn (MPI 5.0, 11.8.4) as mpiexec and, under other launchers, the
/// library read it. Fulmar's own keys may be written with `-` or `_` (`bind-to`).
namespace fulmar::wire {

using SpawnInfo = std::vector<std::pair<std::string, std::string>>;

/// The value of the first entry with that key.
[[nodiscard]] std::optional<std::string> info_value(const SpawnInfo& info, std::string_view key);

/// The info, followed by the entries of the file that its key `file` names: lines `key = value`,
/// empty lines, and comments that begin with #. A relative name is relative to `folder`. Fails
/// (spawn) where the file cannot be read or has another line.
[[nodiscard]] base::Result<SpawnInfo> with_info_file(const SpawnInfo& given,
                                                     const std::string& folder);

/// How many processes of `wanted` may be started under the key `soft`: all without it, else the
/// largest number of its list `a,b:c,d:e:step` that is at most `wanted`. Fails (spawn) where it is
/// no such list, or has no such number but 0.
[[nodiscard]] base::Result<std::uint32_t> soft_count(const SpawnInfo& info, std::uint32_t wanted);

/// The settings of the key `env`, a line NAME=VALUE each, and the one that
/// `mpi_initial_errhandler` stands for. Fails (spawn) with a line that is none.
[[nodiscard]] base::Result<SpawnInfo> info_environment(const SpawnInfo& info);

/// `file`, relative to `folder` if it is a relative name.
[[nodiscard]] std::string from_folder(const std::string& folder, const std::string& file);

}  // namespace fulmar::wire
