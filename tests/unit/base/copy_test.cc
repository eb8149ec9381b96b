// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fulmar::base {
namespace {

constexpr std::byte untouched{0xEE};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  std::uint32_t value = 1;
  for (std::byte& one : data) {
    value = value * 1664525 + 1013904223;
    one = static_cast<std::byte>(value >> 24);
  }
  return data;
}

/// Whether exactly `bytes` bytes are copied between places with these offsets.
bool copies(std::size_t bytes, std::size_t from_offset, std::size_t to_offset,
            StoreKind stores = StoreKind::cached) {
  const std::vector<std::byte> from = pattern(from_offset + bytes);
  std::vector<std::byte> to(to_offset + bytes + 64, untouched);
  copy_bytes(to.data() + to_offset, from.data() + from_offset, bytes, stores);
  const auto begin = to.begin() + static_cast<std::ptrdiff_t>(to_offset);
  const auto end = begin + static_cast<std::ptrdiff_t>(bytes);
  return std::equal(begin, end, from.begin() + static_cast<std::ptrdiff_t>(from_offset)) &&
         std::count(to.begin(), begin, untouched) == begin - to.begin() &&
         std::count(end, to.end(), untouched) == to.end() - end;
}

TEST(Copy, Every_short_length) {
  for (std::size_t bytes = 0; bytes <= 200; ++bytes) EXPECT_TRUE(copies(bytes, 1, 3)) << bytes;
}

TEST(Copy, Lengths_around_the_pieces) {
  for (const std::size_t pieces : {1, 2, 3, 32}) {
    for (const std::size_t more : {0, 1, 47, 2047}) {
      const std::size_t bytes = pieces * plain_copy_bytes + more;
      EXPECT_TRUE(copies(bytes, 0, 0)) << bytes;
      EXPECT_TRUE(copies(bytes, 0, 16)) << bytes;
      EXPECT_TRUE(copies(bytes, 4088, 0)) << bytes;
      EXPECT_TRUE(copies(bytes - 1, 5, 0)) << bytes;
    }
  }
}

TEST(Copy, From_and_to_every_place_in_a_vector) {
  for (const std::size_t bytes :
       {plain_copy_bytes + 1, plain_copy_bytes + 64, plain_copy_bytes + 333}) {
    for (std::size_t offset = 0; offset <= 64; ++offset) {
      EXPECT_TRUE(copies(bytes, 0, offset)) << bytes << ' ' << offset;
      EXPECT_TRUE(copies(bytes, offset, 7)) << bytes << ' ' << offset;
    }
  }
}

TEST(Copy, Lengths_at_which_strings_begin) {
  for (const std::size_t bytes :
       {always_string_bytes - 1, always_string_bytes, always_string_bytes + 65}) {
    for (const std::size_t offset : {0, 1, 16, 63, 64, 4095}) {
      EXPECT_TRUE(copies(bytes, 0, offset)) << bytes << ' ' << offset;
      EXPECT_TRUE(copies(bytes, offset, 0)) << bytes << ' ' << offset;
    }
  }
}

TEST(Copy, More_than_the_caches_hold) {
  for (const std::size_t bytes : {(std::size_t{4} << 20) - 1, (std::size_t{4} << 20) + 3}) {
    EXPECT_TRUE(copies(bytes, 0, 16)) << bytes;
  }
}

TEST(Copy, Past_the_cache_at_every_place_in_a_line) {
  for (std::size_t offset = 0; offset < 64; ++offset) {
    for (const std::size_t bytes : {512, 513, 575, 576, 639, 2048, 4099}) {
      EXPECT_TRUE(copies(bytes, 0, offset, StoreKind::non_temporal)) << bytes << ' ' << offset;
      EXPECT_TRUE(copies(bytes, offset, 7, StoreKind::non_temporal)) << bytes << ' ' << offset;
    }
  }
}

TEST(Copy, Past_the_cache_of_short_lengths) {
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
    EXPECT_TRUE(copies(bytes, 1, 3, StoreKind::non_temporal)) << bytes;
  }
}

TEST(Copy, By_strings_at_every_distance_in_a_page) {
  for (const std::size_t bytes : {1023, 1024, 1025, 4096, 20000}) {
    for (const std::size_t offset : {0, 1, 16, 63, 64, 65, 4000, 4095}) {
      EXPECT_TRUE(copies(bytes, 0, offset, StoreKind::string)) << bytes << ' ' << offset;
      EXPECT_TRUE(copies(bytes, offset, 0, StoreKind::string)) << bytes << ' ' << offset;
    }
  }
}

TEST(Copy, By_strings_of_short_lengths) {
  for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
    EXPECT_TRUE(copies(bytes, 1, 3, StoreKind::string)) << bytes;
  }
}

TEST(Copy, To_shared_memory_never_past_the_cache_from_the_start) {
  EXPECT_NE(stores_to_shared(), StoreKind::non_temporal);
}

TEST(Copy, Nothing_from_nowhere) { copy_bytes(nullptr, nullptr, 0); }

}  // namespace
}  // namespace fulmar::base
