// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

namespace fulmar::runtime {

/// What this library would use and how it is set, as lines of text: networks, protocols, options
/// with their values and where those come from, complaints about the environment. For `fulmar
/// info`; does not initialise anything.
std::string describe();

}  // namespace fulmar::runtime
