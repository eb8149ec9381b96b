// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <string_view>

namespace fulmar::runtime {

/// How much of a user's text an error message quotes, for "%.*s".
[[nodiscard]] inline int quoted_length(std::string_view text) noexcept {
  return static_cast<int>(std::min<std::size_t>(text.size(), 100));
}

}  // namespace fulmar::runtime
