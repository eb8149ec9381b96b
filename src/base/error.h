// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error_class.h"

namespace fulmar::base {

/// The outcome of an operation that can fail: success, or an error class with a text.
///
/// Eight bytes, returned in a register, and zero on success, so the hot path pays one compare. The
/// text is stored in a ring of recent texts shared by all threads (`error.cc`): an Error is meant
/// to be handled soon, by the layer that raises it to the user. After `note_capacity` further
/// errors its text may be overwritten, then `text()` returns the name of the class instead; the
/// class is never lost.
class [[nodiscard]] Error {
 public:
  constexpr Error() noexcept = default;
  /// An error without a text of its own.
  constexpr explicit Error(ErrorClass error_class) noexcept : class_(error_class) {}
  /// A user-defined class or code (MPI_Add_error_class), or one that a callback returned.
  static constexpr Error from_code(int code) noexcept {
    return Error(static_cast<ErrorClass>(code));
  }

  [[nodiscard]] constexpr bool ok() const noexcept { return class_ == ErrorClass::success; }
  [[nodiscard]] constexpr bool failed() const noexcept { return !ok(); }
  [[nodiscard]] constexpr ErrorClass error_class() const noexcept { return class_; }
  /// The value that an MPI call returns for this error.
  [[nodiscard]] constexpr int code() const noexcept { return static_cast<int>(class_); }
  /// The error as text. Empty for success.
  [[nodiscard]] std::string text() const;

  friend Error failure(ErrorClass error_class, const char* format, ...);

 private:
  constexpr Error(ErrorClass error_class, std::uint32_t note) noexcept
      : class_(error_class), note_(note) {}

  ErrorClass class_ = ErrorClass::success;
  std::uint32_t note_ = 0;
};
static_assert(sizeof(Error) == 8 && std::is_trivially_copyable_v<Error>);

/// Makes an error with a printf-formatted text (at most 511 bytes are kept). The text names the
/// argument or object, its value, and one remedy where there is one. Thread-safe, does not
/// allocate.
[[gnu::cold, gnu::format(printf, 2, 3)]] Error failure(ErrorClass error_class, const char* format,
                                                       ...);

/// How many texts of failures are remembered.
inline constexpr std::uint32_t note_capacity = 256;

/// "MPI_ERR_RANK" and so on; "MPI_ERR_UNKNOWN" for a value that is no predefined class.
const char* error_class_name(ErrorClass error_class) noexcept;
/// One sentence for the class, for MPI_Error_string.
const char* error_class_text(ErrorClass error_class) noexcept;

/// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, error) {}

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  [[nodiscard]] bool failed() const noexcept { return !ok(); }
  /// Requires ok().
  [[nodiscard]] T& value() noexcept { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const noexcept { return *std::get_if<0>(&state_); }
  T& operator*() noexcept { return value(); }
  T* operator->() noexcept { return &value(); }
  /// Success if ok().
  [[nodiscard]] Error error() const noexcept { return ok() ? Error{} : *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace fulmar::base
