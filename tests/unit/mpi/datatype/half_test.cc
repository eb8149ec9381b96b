// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/values/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fulmar::mpi {
namespace {

/// What a number of two bytes is by its definition, in double precision.
double defined(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int unit = exponent == 0 ? 1 : exponent;
  const int whole = exponent == 0 ? fraction : fraction | 1 << fraction_bits;
  return std::ldexp(bits & 0x8000 ? -whole : whole, unit - bias - fraction_bits);
}

template <class Number, int fraction_bits, int bias>
void check_every_value() {
  constexpr int infinity = 0x7fff >> fraction_bits << fraction_bits;
  for (int bits = 0; bits < 0x10000; ++bits) {
    Number number;
    number.bits = static_cast<std::uint16_t>(bits);
    const float value = number;
    if ((bits & 0x7fff) > infinity) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(Number(value)))) << bits;
      continue;
    }
    ASSERT_EQ(Number(value).bits, bits);
    ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    if ((bits & 0x7fff) == infinity) {
      ASSERT_TRUE(std::isinf(value)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), defined(number.bits, fraction_bits, bias)) << bits;
    }
  }
}

/// Between each number and the next one: the middle goes to the even one, what lies beside it to the nearest.
template <class Number, int fraction_bits, int bias>
void check_rounding() {
  constexpr int infinity = 0x7fff >> fraction_bits << fraction_bits;
  for (int bits = 0; bits < infinity; ++bits) {
    const double low = defined(static_cast<std::uint16_t>(bits), fraction_bits, bias);
    const double high = defined(static_cast<std::uint16_t>(bits + 1), fraction_bits, bias);
    const auto middle = static_cast<float>((low + high) / 2);
    if (middle == static_cast<float>(low)) continue;  // no single precision between the two
    const int even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Number(middle).bits, even) << bits;
    ASSERT_EQ(Number(-middle).bits, even | 0x8000) << bits;
    ASSERT_EQ(Number(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(Number(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits,
              bits + 1);
  }
}

TEST(Half, Every_value_is_what_IEEE_defines) { check_every_value<Half, 10, 15>(); }
TEST(Half, Rounds_to_nearest_even) { check_rounding<Half, 10, 15>(); }
TEST(Bfloat16, Every_value_is_the_upper_half_of_single_precision) {
  check_every_value<Bfloat16, 7, 127>();
}
TEST(Bfloat16, Rounds_to_nearest_even) { check_rounding<Bfloat16, 7, 127>(); }

TEST(Half, Too_large_is_infinite) {
  EXPECT_EQ(Half(65519.0F).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Half(-3e38F).bits, 0xfc00);
  EXPECT_EQ(Half(1e-30F).bits, 0);
  EXPECT_EQ(Bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

}  // namespace
}  // namespace fulmar::mpi
