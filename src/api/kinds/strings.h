// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>
#include <type_traits>

#include "api/kinds/values.h"

namespace fulmar::api {

/// An input string.
struct StringIn {
  static constexpr Stage stage = Stage::other;
  int index;
  const char* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "give a string");
  }
  std::string_view value(const Scope&) const noexcept { return raw; }
};

/// A buffer for an output string.
struct StringOut {
  static constexpr Stage stage = Stage::other;
  int index;
  char* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "the call stores a string there");
  }
  char* value(const Scope&) const noexcept { return raw; }
};

/// A buffer of a given length; may be null where the length is 0 (the caller only queries the
/// needed length).
template <class Length>
struct StringOutOf {
  static constexpr Stage stage = Stage::other;
  int index;
  char* raw;
  Length length;

  bool check(Scope&) const noexcept { return raw != nullptr || capacity() == 0; }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(base::ErrorClass::arg, "argument %s: null pointer to %d bytes",
                         argument.name, capacity());
  }
  char* value(const Scope&) const noexcept { return raw; }

 private:
  /// The length goes in and out through a pointer, which was checked before.
  [[nodiscard]] int capacity() const noexcept {
    if constexpr (std::is_pointer_v<Length>) {
      return *length;
    } else {
      return length;
    }
  }
};
template <class Length>
StringOutOf(int, char*, Length) -> StringOutOf<Length>;

}  // namespace fulmar::api
