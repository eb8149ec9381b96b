// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/siphash.h"

#include <gtest/gtest.h>

#include <vector>

namespace fulmar::base {
namespace {

/// The key and the inputs of the paper: bytes 0, 1, 2 and so on.
constexpr SipHash::Key paper_key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

std::vector<std::byte> counting(std::size_t bytes) {
  std::vector<std::byte> input(bytes);
  for (std::size_t i = 0; i < bytes; ++i) input[i] = static_cast<std::byte>(i);
  return input;
}

TEST(SipHash, Agrees_with_the_published_values) {
  const SipHash hash(paper_key);
  EXPECT_EQ(hash(counting(0)), 0x726fdb47dd0e0e31);
  EXPECT_EQ(hash(counting(8)), 0x93f5f5799a932462);
  EXPECT_EQ(hash(counting(15)), 0xa129ca6149be45e5);
}

TEST(SipHash, Another_key_or_input_gives_another_value) {
  const auto input = counting(24);
  auto changed = input;
  changed[23] ^= std::byte{1};
  EXPECT_NE(SipHash(paper_key)(input), SipHash(paper_key)(changed));
  EXPECT_NE(SipHash(paper_key)(input), SipHash({paper_key[0] ^ 1, paper_key[1]})(input));
}

}  // namespace
}  // namespace fulmar::base
