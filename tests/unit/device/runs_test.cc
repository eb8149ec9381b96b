// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/buffer/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fulmar::device {
namespace {

/// Runs at any offsets.
class Pieces final : public Packer {
 public:
  explicit Pieces(std::vector<std::pair<std::size_t, std::size_t>> pieces)
      : pieces_(std::move(pieces)) {}

  std::size_t pack(const void* /*base*/, std::uint64_t /*offset*/,
                   std::span<std::byte> /*to*/) const override {
    return 0;
  }
  std::size_t unpack(void* /*base*/, std::uint64_t /*offset*/,
                     std::span<const std::byte> /*from*/) const override {
    return 0;
  }
  std::size_t segments(void* base, std::uint64_t offset, std::uint64_t bytes,
                       std::span<iovec> out) const override {
    std::size_t count = 0;
    for (const auto& [at, length] : pieces_) {
      if (offset >= length) {
        offset -= length;
        continue;
      }
      if (bytes == 0 || count == out.size()) break;
      const std::uint64_t covered = std::min<std::uint64_t>(bytes, length - offset);
      out[count++] = {static_cast<std::byte*>(base) + at + offset, covered};
      bytes -= covered;
      offset = 0;
    }
    return count;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> pieces_;
};

/// Never looked at.
std::byte base[2'000'000];

std::span<std::byte> memory(std::size_t from, std::size_t bytes) { return {base + from, bytes}; }

void expect_same(std::span<std::byte> is, std::span<std::byte> wanted) {
  EXPECT_EQ(is.data(), wanted.data());
  EXPECT_EQ(is.size(), wanted.size());
}

TEST(Hull, One_run_is_itself) {
  expect_same(bounding_range({base, 100, nullptr}, 100), memory(0, 100));
  expect_same(bounding_range({base, 100, nullptr}, 7), memory(0, 7));
  expect_same(run_at({base, 100, nullptr}, 40, 20), memory(40, 20));
}

TEST(Hull, Spans_runs_in_any_order) {
  const Pieces pieces({{20000, 5000}, {0, 6000}, {9000, 4096}});
  expect_same(bounding_range({base, 15096, &pieces}, 15096), memory(0, 25000));
}

TEST(Hull, Is_that_of_the_bytes_asked_for) {
  const Pieces pieces({{20000, 5000}, {0, 6000}, {90000, 4096}});
  expect_same(bounding_range({base, 15096, &pieces}, 5000), memory(20000, 5000));
  EXPECT_TRUE(bounding_range({base, 15096, &pieces}, 11001).empty());
}

TEST(Hull, Is_none_of_short_runs) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < 1000; ++i) places.emplace_back(i * 5000, shortest_run_bytes - 1);
  const Pieces pieces(places);
  EXPECT_TRUE(bounding_range({base, 1000 * (shortest_run_bytes - 1), &pieces}, 100'000).empty());
}

TEST(Hull, Is_none_where_runs_lie_far_apart) {
  const Pieces near({{0, 5000}, {15000, 5000}});
  const Pieces far({{0, 5000}, {15001, 5000}});
  expect_same(bounding_range({base, 10000, &near}, 10000), memory(0, 20000));
  EXPECT_TRUE(bounding_range({base, 10000, &far}, 10000).empty());
}

TEST(Hull, Spans_more_runs_than_are_looked_at_at_once) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < 300; ++i) places.emplace_back(i * 6000, 5000);
  const Pieces pieces(places);
  expect_same(bounding_range({base, 1'500'000, &pieces}, 1'500'000), memory(0, 299 * 6000 + 5000));
}

TEST(Run, Ends_with_its_piece_or_the_bytes_asked_for) {
  const Pieces pieces({{20000, 5000}, {0, 6000}});
  const Buffer buffer{base, 11000, &pieces};
  expect_same(run_at(buffer, 0, 100), memory(20000, 100));
  expect_same(run_at(buffer, 4990, 100), memory(24990, 10));
  expect_same(run_at(buffer, 5000, 6000), memory(0, 6000));
}

}  // namespace
}  // namespace fulmar::device
