// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace fulmar::io {

/// The error class of MPI 5.0 section 14.7 for a system error; MPI_ERR_IO where there is none.
[[nodiscard]] base::ErrorClass class_of_errno(int error) noexcept;

/// No offset belongs to the operation.
inline constexpr std::int64_t no_offset = -1;

/// The error of a system call on a file: names what was done ("write"), the file, the offset in
/// bytes unless it is `no_offset`, the system's text, and one remedy where there is one.
[[nodiscard, gnu::cold]] base::Error system_error(const char* action, const std::string& path,
                                                  std::int64_t offset, int error);

}  // namespace fulmar::io
