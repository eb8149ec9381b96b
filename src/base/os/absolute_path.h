// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

namespace fulmar::base {

/// `path` from the root on, as it is meant now: the program may change its working directory later. The
/// path itself where there is no such directory.
[[nodiscard]] std::string absolute_path(const std::string& path);

}  // namespace fulmar::base
