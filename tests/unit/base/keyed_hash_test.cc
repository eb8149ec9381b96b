// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

namespace fulmar::base {
namespace {

using Source = KeyedHash::Source;

/// Every library of the standard list that this machine has.
std::vector<KeyedHash> hashes() {
  std::vector<KeyedHash> found;
  for (const Source& source : KeyedHash::standard_sources()) {
    auto hash = KeyedHash::load(std::span(&source, 1));
    if (hash.ok()) found.push_back(*hash);
  }
  return found;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(KeyedHash, One_of_the_libraries_is_here) { EXPECT_FALSE(hashes().empty()); }

TEST(KeyedHash, Every_library_gives_the_value_of_the_standard) {
  // RFC 4231, test case 2; a short key is filled up with zeros.
  constexpr std::array<std::uint8_t, 32> expected = {
      0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24,
      0x26, 0x08, 0x95, 0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27,
      0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43};
  Key key{};
  std::memcpy(key.data(), "Jefe", 4);
  for (const KeyedHash& hash : hashes()) {
    Mac mac;
    ASSERT_TRUE(hash.mac(key, bytes_of("what do ya want for nothing?"), mac)) << hash.library();
    EXPECT_EQ(std::memcmp(mac.data(), expected.data(), 32), 0) << hash.library();
  }
}

TEST(KeyedHash, Equal_looks_at_every_byte) {
  for (const KeyedHash& hash : hashes()) {
    const Mac one{};
    EXPECT_TRUE(hash.equal(one, Mac{}));
    for (std::size_t i = 0; i < one.size(); ++i) {
      Mac other{};
      other[i] = std::byte{1};
      EXPECT_FALSE(hash.equal(one, other)) << hash.library() << i;
    }
  }
}

TEST(KeyedHash, Random_bytes_differ_each_time) {
  for (const KeyedHash& hash : hashes()) {
    Mac one{};
    Mac other{};
    ASSERT_TRUE(hash.random(one) && hash.random(other));
    EXPECT_FALSE(hash.equal(one, other));
    EXPECT_FALSE(hash.equal(one, Mac{}));
  }
}

TEST(KeyedHash, A_missing_library_is_an_error_that_names_the_package) {
  constexpr std::array<Source, 2> sources = {
      {{"libno_such_library.so.1", Source::Kind::sodium}, {"libm.so.6", Source::Kind::crypto}}};
  const auto hash = KeyedHash::load(sources);
  ASSERT_TRUE(hash.failed());
  const std::string text = hash.error().text();
  EXPECT_NE(text.find("libno_such_library.so.1"), std::string::npos) << text;
  EXPECT_NE(text.find("libm.so.6: a function is missing"), std::string::npos) << text;
  EXPECT_NE(text.find("libsodium23"), std::string::npos) << text;
}

}  // namespace
}  // namespace fulmar::base
