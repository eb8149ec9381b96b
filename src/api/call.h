// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

namespace fulmar::api {

/// Which MPI function is running, for error texts: its name and those of its parameters, each ended
/// by a NUL, in one string that a shim holds ("MPI_Send\0buf\0count\0..."). One pointer, no table,
/// so it costs the hot path nothing.
class Call {
 public:
  constexpr Call(const char* text) noexcept : text_(text) {}

  [[nodiscard]] constexpr const char* name() const noexcept { return text_; }
  /// Whether it is the `_c` form of a function.
  [[nodiscard]] constexpr bool is_large() const noexcept {
    return std::string_view(text_).ends_with("_c");
  }
  /// The name of parameter `index`, counted from 0, which must exist.
  [[nodiscard]] constexpr const char* argument(int index) const noexcept {
    const char* at = text_;
    for (int i = 0; i <= index; ++i) {
      while (*at != '\0') ++at;
      ++at;
    }
    return at;
  }

 private:
  const char* text_;
};

}  // namespace fulmar::api
