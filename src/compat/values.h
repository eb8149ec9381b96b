// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <foreign_values.h>

#include <climits>
#include <concepts>

// Numbers that stand for the same constant in two ABIs, and error codes.

namespace fulmar::compat {

/// No constant of the standard ABI, for numbers that are none of the other ABI.
inline constexpr int no_constant = INT_MIN + 1;
/// What a result holds before a call, to tell whether the call has stored one.
inline constexpr int untouched = INT_MIN;

/// The numbers outside of which no constant of a set lies in either ABI.
struct Bounds {
  long low = LONG_MAX;
  long high = LONG_MIN;
};
template <class Set>
consteval Bounds bounds_of() {
  Bounds bounds;
  for (const Pair& pair : Set::pairs) {
    for (const long value : {long{pair.foreign}, long{pair.standard}}) {
      if (value < bounds.low) bounds.low = value;
      if (value > bounds.high) bounds.high = value;
    }
  }
  return bounds;
}

template <class Set>
[[gnu::noinline]] long find_standard(long foreign) {
  if constexpr (Set::is_bits) {
    long standard = 0;
    for (const Pair& pair : Set::pairs) {
      if ((foreign & pair.foreign) != 0) standard |= pair.standard;
      foreign &= ~long{pair.foreign};
    }
    // A bit that means nothing must not become one that does.
    return foreign == 0 ? standard : standard | (1L << 30);
  } else {
    for (const Pair& pair : Set::pairs) {
      if (pair.foreign == foreign) return pair.standard;
    }
    for (const Pair& pair : Set::pairs) {
      if (pair.standard == foreign) return no_constant;
    }
    return foreign;
  }
}
template <class Set>
[[gnu::noinline]] long find_foreign(long standard) {
  if constexpr (Set::is_bits) {
    long foreign = 0;
    for (const Pair& pair : Set::pairs) {
      if ((standard & pair.standard) != 0) foreign |= pair.foreign;
    }
    return foreign;
  } else {
    for (const Pair& pair : Set::pairs) {
      if (pair.standard == standard) return pair.foreign;
    }
    return standard;
  }
}

/// A number of the other ABI as that of the standard ABI. What is no constant of the set stays as it is, but
/// for numbers that are a constant of the standard ABI only: these become none.
template <class Set, class Number>
[[nodiscard]] inline Number to_standard(Number foreign) {
  constexpr Bounds bounds = bounds_of<Set>();
  if (!Set::is_bits && (foreign < bounds.low || foreign > bounds.high)) [[likely]]
    return foreign;
  return static_cast<Number>(find_standard<Set>(static_cast<long>(foreign)));
}
template <class Set, class Number>
[[nodiscard]] inline Number to_foreign(Number standard) {
  constexpr Bounds bounds = bounds_of<Set>();
  if (!Set::is_bits && (standard < bounds.low || standard > bounds.high)) [[likely]]
    return standard;
  return static_cast<Number>(find_foreign<Set>(static_cast<long>(standard)));
}

/// MPI_T_source_order and MPI_T_cb_safety are enumerations in C.
template <class Set, class Number>
  requires std::is_enum_v<Number>
[[nodiscard]] inline Number to_standard(Number foreign) {
  return static_cast<Number>(find_standard<Set>(static_cast<long>(foreign)));
}
template <class Set, class Number>
  requires std::is_enum_v<Number>
[[nodiscard]] inline Number to_foreign(Number standard) {
  return static_cast<Number>(find_foreign<Set>(static_cast<long>(standard)));
}

/// Added to codes of classes that the program made, where MPI_ERR_LASTCODE of the other ABI is beyond ours.
inline constexpr int user_code_bit = foreign::err_lastcode > MPI_ERR_LASTCODE ? 1 << 30 : 0;

[[nodiscard, gnu::cold]] int foreign_code(int code);
[[nodiscard, gnu::cold]] int standard_code(int code);

/// An error code that our library returned, for the program.
[[nodiscard]] inline int code_out(int code) {
  if (code == MPI_SUCCESS) [[likely]]
    return MPI_SUCCESS;
  return foreign_code(code);
}
/// An error code of the program, for our library.
[[nodiscard]] inline int code_in(int code) {
  return code == MPI_SUCCESS ? MPI_SUCCESS : standard_code(code);
}

template <>
[[nodiscard]] inline int to_standard<foreign::set::error>(int foreign) {
  return code_in(foreign);
}
template <>
[[nodiscard]] inline int to_foreign<foreign::set::error>(int standard) {
  return code_out(standard);
}

namespace set = foreign::set;

}  // namespace fulmar::compat
