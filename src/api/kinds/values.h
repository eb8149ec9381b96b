// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Wrappers of plain values, results and arrays. For what a wrapper is see api/entry.h.

#include <span>
#include <type_traits>

#include "api/scope.h"
#include "base/error.h"

namespace fulmar::api {

/// The error for a pointer argument that must not be null.
[[nodiscard, gnu::cold]] inline base::Error null_pointer(Argument argument, const char* remedy) {
  return base::failure(base::ErrorClass::arg, "argument %s: null pointer; %s", argument.name,
                       remedy);
}

/// A value that needs no check.
template <class T>
struct Plain {
  static constexpr Stage stage = Stage::other;
  int index;
  T raw;

  bool check(Scope&) const noexcept { return true; }
  base::Error explain(const Scope&, Argument) const { return {}; }
  T value(const Scope&) const noexcept { return raw; }
};
template <class T>
Plain(int, T) -> Plain<T>;

/// A pointer that may be null, for results that a caller may leave out.
template <class T>
using PlainPointer = Plain<T>;

template <class T>
using Callback = Plain<T>;

/// Whether a null pointer is a value of its own: MPI_CONVERSION_FN_NULL.
template <class Small>
inline constexpr bool may_be_null_function = std::is_same_v<Small, MPI_Datarep_conversion_function>;

/// A callback that has a `_c` twin; `Raw` is one of the two.
template <class Small, class Large>
struct CallbackOf {
  static constexpr Stage stage = Stage::other;
  int index;
  mpi::EitherFunction<Small, Large> functions;

  CallbackOf(int at, Small* function) noexcept : index(at), functions{function, nullptr} {}
  CallbackOf(int at, Large* function) noexcept : index(at), functions{nullptr, function} {}
  bool check(Scope&) const noexcept {
    return may_be_null_function<Small> || functions.plain != nullptr || functions.large != nullptr;
  }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "give a function");
  }
  mpi::EitherFunction<Small, Large> value(const Scope&) const noexcept { return functions; }
};

/// A pointer to one output, or to a value that is input and output.
template <class T>
struct Out {
  static constexpr Stage stage = Stage::other;
  int index;
  T* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "the call stores a result there");
  }
  T& value(const Scope&) const noexcept { return *raw; }
};
template <class T>
Out(int, T*) -> Out<T>;

/// A pointer to an output address that the prototype declares as void* (MPI_Alloc_mem).
struct PointerOut {
  static constexpr Stage stage = Stage::other;
  int index;
  void* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "the call stores an address there");
  }
  void*& value(const Scope&) const noexcept { return *static_cast<void**>(raw); }
};

struct NaturalIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope&) const noexcept { return raw >= 0; }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(base::ErrorClass::arg, "argument %s: %d is negative", argument.name, raw);
  }
  int value(const Scope&) const noexcept { return raw; }
};

struct ColorIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope&) const noexcept { return raw >= 0 || raw == MPI_UNDEFINED; }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(base::ErrorClass::arg,
                         "argument %s: color %d is negative; use MPI_UNDEFINED to be in no new "
                         "communicator",
                         argument.name, raw);
  }
  int value(const Scope&) const noexcept { return raw; }
};

/// An array. With the length argument of the call it is a span, without one a bare pointer, which
/// the implementation checks.
template <class T, class Length = void>
struct Span {
  static constexpr Stage stage = Stage::other;
  int index;
  T* raw;
  Length length;

  bool check(Scope&) const noexcept { return raw != nullptr || length <= 0; }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(base::ErrorClass::arg, "argument %s: null pointer to an array of %lld",
                         argument.name, static_cast<long long>(length));
  }
  std::span<T> value(const Scope&) const noexcept {
    return {raw, length > 0 ? static_cast<std::size_t>(length) : 0};
  }
};
template <class T>
struct Span<T, void> {
  static constexpr Stage stage = Stage::other;
  int index;
  T* raw;

  bool check(Scope&) const noexcept { return true; }
  base::Error explain(const Scope&, Argument) const { return {}; }
  T* value(const Scope&) const noexcept { return raw; }
};
template <class T, class Length>
Span(int, T*, Length) -> Span<T, Length>;
template <class T>
Span(int, T*) -> Span<T, void>;

/// An array of statuses; null where the caller ignores them.
struct Statuses {
  static constexpr Stage stage = Stage::other;
  int index;
  MPI_Status* raw;
  int length;

  bool check(Scope&) const noexcept { return true; }
  base::Error explain(const Scope&, Argument) const { return {}; }
  MPI_Status* value(const Scope&) const noexcept { return raw; }
};

template <class Status>
struct StatusArgument {
  static constexpr Stage stage = Stage::other;
  int index;
  Status* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "MPI_STATUS_IGNORE is not allowed here");
  }
  Status& value(const Scope&) const noexcept { return *raw; }
};
using StatusIn = StatusArgument<const MPI_Status>;
using StatusInOut = StatusArgument<MPI_Status>;

}  // namespace fulmar::api
