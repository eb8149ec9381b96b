// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Wrappers of counts, sizes and displacements. The plain and the `_c` form of a function are
// unified here: both pass Count, CountOut or CountArray to the implementation.

#include "api/kinds/values.h"

namespace fulmar::api {

using mpi::Count;

/// A value with a smallest allowed one.
template <Count smallest, base::ErrorClass error_class>
struct LimitedCount {
  static constexpr Stage stage = Stage::other;
  int index;
  Count raw;

  bool check(Scope&) const noexcept { return raw >= smallest; }
  base::Error explain(const Scope&, Argument argument) const {
    return base::failure(error_class, "argument %s: %lld is less than %lld", argument.name,
                         static_cast<long long>(raw), static_cast<long long>(smallest));
  }
  Count value(const Scope&) const noexcept { return raw; }
};

/// A number of elements.
struct CountIn : LimitedCount<0, base::ErrorClass::count> {
  bool check(Scope& scope) const noexcept {
    scope.count = raw;
    return LimitedCount::check(scope);
  }
};
using LargeCountIn = CountIn;
using MemorySizeIn = LimitedCount<0, base::ErrorClass::size>;
using UnitIn = LimitedCount<1, base::ErrorClass::disp>;

/// A distance: any value, 64 bits wide in both forms.
struct WideIn {
  static constexpr Stage stage = Stage::other;
  int index;
  Count raw;

  bool check(Scope&) const noexcept { return true; }
  base::Error explain(const Scope&, Argument) const { return {}; }
  Count value(const Scope&) const noexcept { return raw; }
};

/// A result that is an int in the plain form and may not fit.
template <class T, mpi::CountOut::Overflow overflow>
struct CountResultOf {
  static constexpr Stage stage = Stage::other;
  int index;
  T* raw;

  bool check(Scope&) const noexcept { return raw != nullptr; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "the call stores a number there");
  }
  mpi::CountOut value(const Scope&) const noexcept { return {raw, overflow}; }
};

template <class T>
struct CountResult : CountResultOf<T, mpi::CountOut::Overflow::undefined> {};
template <class T>
CountResult(int, T*) -> CountResult<T>;

/// A position in a buffer that the call reads and moves on.
template <class T>
struct PositionInOut : CountResultOf<T, mpi::CountOut::Overflow::fail> {};
template <class T>
PositionInOut(int, T*) -> PositionInOut<T>;

/// An array of displacements, or of counts whose number is not a parameter.
template <class T>
struct ArrayOfCounts {
  static constexpr Stage stage = Stage::other;
  int index;
  const T* raw;
  Count length = -1;

  bool check(Scope&) const noexcept { return raw != nullptr || length <= 0; }
  base::Error explain(const Scope&, Argument argument) const {
    return null_pointer(argument, "give an array");
  }
  mpi::CountArray value(const Scope&) const noexcept {
    return {raw, length < 0 ? mpi::CountArray::unknown : static_cast<std::size_t>(length)};
  }
};

template <class T>
struct OffsetValues : ArrayOfCounts<T> {};
template <class T>
OffsetValues(int, const T*) -> OffsetValues<T>;
template <class T>
OffsetValues(int, const T*, Count) -> OffsetValues<T>;

/// An array of counts; where its length is known none of them may be negative.
template <class T>
struct CountValues : ArrayOfCounts<T> {
  bool check(Scope& scope) const noexcept {
    return ArrayOfCounts<T>::check(scope) && first_negative() == this->length;
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    if (!ArrayOfCounts<T>::check(const_cast<Scope&>(scope))) {
      return ArrayOfCounts<T>::explain(scope, argument);
    }
    const Count at = first_negative();
    return base::failure(base::ErrorClass::count, "argument %s: entry %lld is %lld, less than 0",
                         argument.name, static_cast<long long>(at),
                         static_cast<long long>(this->raw[at]));
  }

 private:
  /// `length` if there is none.
  [[nodiscard]] Count first_negative() const noexcept {
    for (Count i = 0; i < this->length; ++i) {
      if (this->raw[i] < 0) return i;
    }
    return this->length;
  }
};
template <class T>
CountValues(int, const T*) -> CountValues<T>;
template <class T>
CountValues(int, const T*, Count) -> CountValues<T>;

}  // namespace fulmar::api
