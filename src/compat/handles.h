// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <algorithm>

#include "compat/number_ranges.h"
#include "compat/values.h"

// Handles of the other ABI and of the standard ABI.
//
// MPICH's handles are numbers: predefined ones are found in a small table by their low bits; others
// are the number that our library has for the handle (MPI_Comm_toint), with the sign bit set, which
// no predefined handle has but five pairs of datatypes. Open MPI's handles are addresses: of
// objects that programs know by name, and for others the very handle of the standard ABI. MPI_File
// is an address in both.

namespace fulmar::compat {

/// The type of a handle in the other ABI.
template <class Handle>
using Foreign = typename foreign::Traits<Handle>::Type;

/// Predefined handles of the standard ABI have smaller values, others larger ones.
inline constexpr std::uintptr_t predefined_handles = 4096;
inline constexpr std::uintptr_t handle_constants = 1024;

template <class Handle>
[[nodiscard]] inline std::uintptr_t value_of(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}
template <class Handle>
[[nodiscard]] inline Handle standard_handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

/// Handles that are numbers.
template <class Handle>
class Numbered {
  using Traits = foreign::Traits<Handle>;
  static constexpr std::uint32_t sign = 0x80000000U;

  static constexpr std::uint32_t place_of(std::uint32_t foreign) {
    return (foreign & 0x7f) | ((foreign >> 30 & 1) << 7);
  }
  /// The predefined handles by `place_of`; those with the sign bit are left out.
  static consteval std::array<HandlePair, 256> make_places() {
    std::array<HandlePair, 256> places{};
    for (const HandlePair& pair : Traits::handles) {
      if ((pair.foreign & sign) == 0) places[place_of(pair.foreign)] = pair;
    }
    return places;
  }
  /// The numbers of the predefined handles by their constant, 0 where there is none.
  static consteval std::array<std::uint32_t, handle_constants> make_numbers() {
    std::array<std::uint32_t, handle_constants> numbers{};
    for (const HandlePair& pair : Traits::handles) {
      if (pair.standard < handle_constants) numbers[pair.standard] = pair.foreign;
    }
    return numbers;
  }
  static constexpr std::array<HandlePair, 256> places = make_places();
  static constexpr std::array<std::uint32_t, handle_constants> numbers = make_numbers();
  static constexpr std::size_t signed_count = std::ranges::count_if(
      Traits::handles, [](const HandlePair& pair) { return (pair.foreign & sign) != 0; });
  /// The predefined handles with the sign bit.
  static consteval std::array<HandlePair, signed_count> make_signed() {
    std::array<HandlePair, signed_count> pairs{};
    std::ranges::copy_if(Traits::handles, pairs.begin(),
                         [](const HandlePair& pair) { return (pair.foreign & sign) != 0; });
    return pairs;
  }
  static constexpr std::array<HandlePair, signed_count> signed_handles = make_signed();

 public:
  [[nodiscard]] static Handle in(int foreign) {
    const auto number = static_cast<std::uint32_t>(foreign);
    if ((number & sign) == 0) [[likely]] {
      const HandlePair& pair = places[place_of(number)];
      return standard_handle<Handle>(pair.foreign == number ? pair.standard : 0);
    }
    const std::uintptr_t handle = ranges.handle_of(number & ~sign);
    if (handle != 0) [[likely]]
      return standard_handle<Handle>(handle);
    for (const HandlePair& pair : signed_handles) {
      if (pair.foreign == number) return standard_handle<Handle>(pair.standard);
    }
    return ask_in(number & ~sign);
  }
  [[nodiscard]] static int out(Handle handle) {
    const std::uintptr_t value = value_of(handle);
    if (value < handle_constants) [[likely]]
      return static_cast<int>(numbers[value]);
    const std::uint32_t number = ranges.number_of(value);
    return static_cast<int>((number != 0 ? number : ask_out(handle)) | sign);
  }

 private:
  static constinit inline NumberRanges ranges;

  [[gnu::cold, gnu::noinline]] static Handle ask_in(std::uint32_t number) {
    const Handle handle = (functions.*Traits::from_number)(static_cast<int>(number));
    learn(number, handle);
    return handle;
  }
  [[gnu::cold, gnu::noinline]] static std::uint32_t ask_out(Handle handle) {
    const int number = (functions.*Traits::to_number)(handle);
    if (number >= 0) learn(static_cast<std::uint32_t>(number), handle);
    return static_cast<std::uint32_t>(number);
  }
  static void learn(std::uint32_t number, Handle handle) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const auto ask = [](std::uint32_t other) {
      const std::uintptr_t value =
          value_of((functions.*Traits::from_number)(static_cast<int>(other)));
      return value < predefined_handles ? 0 : value;  // the null handle: none has this number
    };
    pthread_mutex_lock(&lock);
    ranges.objects.learn(number, value_of(handle), ask);
    ranges.done.learn(number, value_of(handle), ask);
    pthread_mutex_unlock(&lock);
  }
};

/// The constant of the standard ABI that a predefined object stands for; 0 for any other address.
[[nodiscard]] std::uintptr_t constant_of_object(const void* address);
/// The object that a constant below `handle_constants` is here; null where there is none.
[[nodiscard]] void* object_of_constant(std::uintptr_t constant);

/// Handles that are addresses.
template <class Handle>
struct Addressed {
  [[nodiscard]] static Handle in(Foreign<Handle> foreign) {
    const auto value = reinterpret_cast<std::uintptr_t>(foreign);
    if constexpr (foreign::handles_are_numbers) {  // MPI_File alone
      if (value == 0) return standard_handle<Handle>(value_of(MPI_FILE_NULL));
    } else {
      const std::uintptr_t constant = constant_of_object(foreign);
      if (constant != 0) return standard_handle<Handle>(constant);
    }
    return standard_handle<Handle>(value < predefined_handles ? 0 : value);
  }
  [[nodiscard]] static Foreign<Handle> out(Handle handle) {
    const std::uintptr_t value = value_of(handle);
    if (value >= predefined_handles) return reinterpret_cast<Foreign<Handle>>(handle);
    if constexpr (foreign::handles_are_numbers) {
      return nullptr;
    } else {
      return reinterpret_cast<Foreign<Handle>>(value < handle_constants ? object_of_constant(value)
                                                                        : nullptr);
    }
  }
};

template <class Handle>
using Conversion =
    std::conditional_t<std::is_same_v<Foreign<Handle>, int>, Numbered<Handle>, Addressed<Handle>>;

/// A handle of the program, for our library. What is no handle becomes one that the library
/// refuses.
template <class Handle>
[[nodiscard]] inline Handle in(Foreign<Handle> foreign) {
  return Conversion<Handle>::in(foreign);
}
/// A handle of our library, for the program.
template <class Handle>
[[nodiscard]] inline Foreign<Handle> out(Handle handle) {
  return Conversion<Handle>::out(handle);
}

}  // namespace fulmar::compat
