// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

/// What FULMAR_FABRIC and FULMAR_RAILS call the networks.
namespace fulmar::fabric::network_names {

inline constexpr const char* tcp = "tcp";
inline constexpr const char* verbs = "verbs";
inline constexpr const char* ofi = "ofi";
inline constexpr const char* rails = "rails";  ///< several at once

}  // namespace fulmar::fabric::network_names
