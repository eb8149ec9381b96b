// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::info {

enum class Part { summary, api, api_names, variables };

/// Prints what the library is and what of MPI 5.0 works. Returns the exit code.
int run(Part part);

}  // namespace fulmar::info
