// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::doctor {

enum class Form : std::uint8_t { text, json };

/// Looks at this machine and prints what is well and what should be changed. Returns the exit code:
/// 1 if something is in the way of MPI jobs, else 0.
int run(Form form);

}  // namespace fulmar::doctor
