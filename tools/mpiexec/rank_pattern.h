// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fulmar::mpiexec {

/// A pattern (see OutputFiles) for one rank of `ranks`. What follows a percent sign and has no
/// meaning stays as it is.
[[nodiscard]] std::string expand_pattern(std::string_view pattern, std::uint32_t rank,
                                         std::uint32_t ranks, std::string_view host);

/// A text as a pattern that means just that text.
[[nodiscard]] std::string quote_pattern(std::string_view text);

}  // namespace fulmar::mpiexec
