// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <bit>
#include <cstdint>

namespace fulmar::mpi {

// Numbers of two bytes. C++ has no types for them in all of our compilers (gcc 12 has none), so they are kept as bits, and one
// operation is done in single precision and rounded to nearest, ties to even: for a sum or a product that is the correctly rounded
// result, as single precision has more than twice their digits.

/// IEEE binary16: 5 bits of exponent, 10 of fraction.
struct Half {
  std::uint16_t bits;

  Half() = default;
  explicit constexpr Half(float value) noexcept : bits(round(value)) {}
  constexpr operator float() const noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
    const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fffU) << 13;
    if (rest >= infinity << 13) return std::bit_cast<float>(sign | 0x7f800000U | rest);
    if (rest >= 1U << 23) return std::bit_cast<float>(sign | (rest + exponent_shift));
    // A subnormal number counts in units of 2^-24, which single precision has without subnormals: 2^-14 and the fraction,
    // less 2^-14.
    const float value =
        std::bit_cast<float>(smallest_normal | rest) - std::bit_cast<float>(smallest_normal);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }

 private:
  static constexpr std::uint32_t infinity = 0x7c00;
  static constexpr std::uint32_t exponent_shift = (127U - 15U) << 23;
  static constexpr std::uint32_t smallest_normal = (127U - 14U) << 23;

  static constexpr std::uint16_t round(float value) noexcept {
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = whole >> 16 & 0x8000U;
    const std::uint32_t rest = whole & 0x7fffffffU;
    std::uint32_t made = 0;
    if (rest > 0x7f800000U) {  // not a number: quiet, with what fits of its fraction
      made = infinity | 0x200U | (rest >> 13 & 0x3ffU);
    } else if (rest >= (127U + 16U) << 23) {
      made = infinity;
    } else if (rest >= smallest_normal) {  // beyond the largest number the carry gives infinity
      made = (rest + 0xfffU + (rest >> 13 & 1U) - exponent_shift) >> 13;
    } else {  // 0.5 has the unit of the subnormal numbers as its last place, so the sum is rounded to it
      const float sum = std::bit_cast<float>(rest) + 0.5F;
      made = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
    }
    return static_cast<std::uint16_t>(sign | made);
  }
};

/// The upper half of single precision: 8 bits of exponent, 7 of fraction.
struct Bfloat16 {
  std::uint16_t bits;

  Bfloat16() = default;
  explicit constexpr Bfloat16(float value) noexcept : bits(round(value)) {}
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t round(float value) noexcept {
    const auto whole = std::bit_cast<std::uint32_t>(value);
    if ((whole & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(whole >> 16 | 0x40U);
    return static_cast<std::uint16_t>((whole + 0x7fffU + (whole >> 16 & 1U)) >> 16);
  }
};

}  // namespace fulmar::mpi
