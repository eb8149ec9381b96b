// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/values/convert.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/copy.h"
#include "mpi/datatype/values/float128.h"

namespace fulmar::mpi {
namespace {

static_assert(std::endian::native == std::endian::little ||
              std::endian::native == std::endian::big);

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

/// A value with its bytes turned round, if this machine is little-endian.
template <class T>
T big_endian(T value) noexcept {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  } else {
    const auto bits = std::bit_cast<unsigned __int128>(value);
    const unsigned __int128 high = __builtin_bswap64(static_cast<std::uint64_t>(bits));
    return std::bit_cast<T>(high << 64 | __builtin_bswap64(static_cast<std::uint64_t>(bits >> 64)));
  }
}

/// Bytes without a meaning.
std::int64_t copy(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  base::copy_bytes(to, from, static_cast<std::size_t>(count));
  return count;
}

/// Numbers of the same size on both sides: the order of bytes alone.
template <class T>
std::int64_t turn(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  constexpr std::int64_t step = sizeof(T);
  for (std::int64_t i = 0; i < count; ++i) {
    store(to + i * step, big_endian(load<T>(from + i * step)));
  }
  return count;
}

/// Integers and characters that may not fit, and real numbers, which are rounded.
template <class Native, class External>
std::int64_t pack_number(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  constexpr std::int64_t from_step = sizeof(Native);
  constexpr std::int64_t to_step = sizeof(External);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = load<Native>(from + i * from_step);
    const auto converted = static_cast<External>(value);
    if constexpr (!std::is_floating_point_v<Native> && !std::is_same_v<Native, Float128>) {
      if (static_cast<Native>(converted) != value) return i;
    }
    store(to + i * to_step, big_endian(converted));
  }
  return count;
}
template <class Native, class External>
std::int64_t unpack_number(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  constexpr std::int64_t from_step = sizeof(External);
  constexpr std::int64_t to_step = sizeof(Native);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = big_endian(load<External>(from + i * from_step));
    const auto converted = static_cast<Native>(value);
    if constexpr (!std::is_floating_point_v<Native> && !std::is_same_v<Native, Float128>) {
      if (static_cast<External>(converted) != value) return i;
    }
    store(to + i * to_step, converted);
  }
  return count;
}

/// Logicals: 0 is false, anything else is true. Both types are unsigned.
template <class Native, class External>
std::int64_t pack_truth(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  constexpr std::int64_t from_step = sizeof(Native);
  constexpr std::int64_t to_step = sizeof(External);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool value = load<Native>(from + i * from_step) != 0;
    store(to + i * to_step, big_endian(static_cast<External>(value)));
  }
  return count;
}
template <class Native, class External>
std::int64_t unpack_truth(const std::byte* from, std::byte* to, std::int64_t count) noexcept {
  constexpr std::int64_t from_step = sizeof(External);
  constexpr std::int64_t to_step = sizeof(Native);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool value = load<External>(from + i * from_step) != 0;
    store(to + i * to_step, static_cast<Native>(value));
  }
  return count;
}

constexpr Conversion copied{copy, copy, 1};

template <class T>
constexpr Conversion turned() {
  return {turn<T>, turn<T>, 1};
}

/// Integers: `Short` is the type of 4 bytes that some have in external32.
template <class Native, class Short>
Conversion integer(int external) {
  if (external == sizeof(Native)) return turned<Native>();
  return {pack_number<Native, Short>, unpack_number<Native, Short>, 1};
}

template <class Native>
Conversion real(int external) {
  switch (external) {
    case 4:
      return {pack_number<Native, float>, unpack_number<Native, float>, 1};
    case 8:
      return {pack_number<Native, double>, unpack_number<Native, double>, 1};
    default:
      return {pack_number<Native, Float128>, unpack_number<Native, Float128>, 1};
  }
}

template <class Native>
Conversion truth(int external) {
  if (external == sizeof(Native)) {
    return {pack_truth<Native, Native>, unpack_truth<Native, Native>, 1};
  }
  return {pack_truth<Native, std::uint32_t>, unpack_truth<Native, std::uint32_t>, 1};
}

Conversion both_parts(Conversion part) {
  part.numbers = 2;
  return part;
}

}  // namespace

Conversion conversion_of(const BasicType& type) noexcept {
  const int external = type.external;
  switch (type.element) {
    case Element::none:
      return copied;
    case Element::int8:
      return integer<std::int8_t, std::int32_t>(external);
    case Element::int16:
      return integer<std::int16_t, std::int32_t>(external);
    case Element::int32:
      return integer<std::int32_t, std::int32_t>(external);
    case Element::int64:
      return integer<std::int64_t, std::int32_t>(external);
    case Element::int128:
      return integer<__int128, std::int32_t>(external);
    case Element::uint8:
      return copied;
    case Element::uint16:
      return integer<std::uint16_t, std::uint32_t>(external);
    case Element::uint32:
      return integer<std::uint32_t, std::uint32_t>(external);
    case Element::uint64:
      return integer<std::uint64_t, std::uint32_t>(external);
    case Element::float16:
    case Element::bfloat16:
      return turned<std::uint16_t>();
    case Element::float32:
      return real<float>(external);
    case Element::float64:
      return real<double>(external);
    case Element::float_long:
      return real<long double>(external);
    case Element::float128:
      return real<Float128>(external);
    case Element::complex16:
      return both_parts(turned<std::uint16_t>());
    case Element::complex32:
      return both_parts(real<float>(external / 2));
    case Element::complex64:
      return both_parts(real<double>(external / 2));
    case Element::complex_long:
      return both_parts(real<long double>(external / 2));
    case Element::complex128:
      return both_parts(real<Float128>(external / 2));
    case Element::boolean:
    case Element::logical8:
      return truth<std::uint8_t>(external);
    case Element::logical16:
      return truth<std::uint16_t>(external);
    case Element::logical32:
      return truth<std::uint32_t>(external);
    case Element::logical64:
      return truth<std::uint64_t>(external);
    case Element::logical128:
      return truth<unsigned __int128>(external);
    case Element::wide_character:
      return {pack_number<wchar_t, char16_t>, unpack_number<wchar_t, char16_t>, 1};
  }
  return copied;
}

}  // namespace fulmar::mpi
