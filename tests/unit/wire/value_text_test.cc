// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/value_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "wire/launch/pmi1.h"

namespace fulmar::wire {
namespace {

std::vector<std::byte> sample(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + count);
  return bytes;
}

TEST(ValueText, Every_length_comes_back) {
  for (const std::size_t count : {0, 1, 2, 3, 4, 445, 446, 447, 448, 449, 895, 896, 897, 28000}) {
    const auto bytes = sample(count);
    const auto parts = encode_value(bytes);
    ASSERT_TRUE(parts.ok()) << count;
    EXPECT_EQ(value_parts(parts.value()[0]).value(), parts.value().size());
    for (const std::string& part : parts.value()) {
      EXPECT_FALSE(part.empty());
      EXPECT_LE(part.size(), pmi_value_limit);
      EXPECT_TRUE(std::all_of(part.begin(), part.end(), [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' ||
               letter == '_' || letter == '.';
      }));
    }
    EXPECT_EQ(decode_value(parts.value()).value(), bytes) << count;
  }
}

TEST(ValueText, Too_much_is_refused) { EXPECT_FALSE(encode_value(sample(30000)).ok()); }

TEST(ValueText, Damage_is_found) {
  const auto decodes = [](std::vector<std::string> parts) { return decode_value(parts).ok(); };
  EXPECT_TRUE(decodes({"1.AAAA"}));
  for (const char* part : {"", "AAAA", "0.AAAA", "65.AAAA", "-1.A", "1.A", "1.AA=", "1.AB", "1.A A",
                           "001.AAAA", "2.AAAA"}) {
    EXPECT_FALSE(decodes({part})) << part;
  }
  EXPECT_FALSE(decodes({}));
  EXPECT_FALSE(decodes({"1.AAAA", "AAAA"}));
}

}  // namespace
}  // namespace fulmar::wire
