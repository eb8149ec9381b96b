// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::base {

/// The version of Fulmar; tests/abi holds it against the build's project version.
inline constexpr char version[] = "0.1.0";

}  // namespace fulmar::base
