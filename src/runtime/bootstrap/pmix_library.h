// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

namespace fulmar::runtime::bootstrap {

inline constexpr const char* pmix_library_name = "libpmix.so.2";
/// The variable that names the file of libpmix to use.
inline constexpr const char* pmix_library_option = "FULMAR_PMIX_LIBRARY";

/// The names under which dlopen() may find libpmix, the first choice first: the one that
/// FULMAR_PMIX_LIBRARY names and no other, else those in the folders that launchers tell their
/// ranks about, as theirs is the library that fits them, and the system's.
std::vector<std::string> pmix_library_candidates();

}  // namespace fulmar::runtime::bootstrap
