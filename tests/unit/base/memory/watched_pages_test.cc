// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/watched_pages.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace fulmar::base {
namespace {

std::vector<AddressRange> removed(WatchedPages& pages, const AddressRange& range) {
  std::vector<AddressRange> unused;
  pages.remove(range, [&](const AddressRange& each) { unused.push_back(each); });
  return unused;
}

TEST(WatchedPages, pages_are_unused_when_no_range_covers_them) {
  WatchedPages pages;
  pages.add({10, 20});
  pages.add({15, 30});
  pages.add({10, 20});
  EXPECT_TRUE(removed(pages, {10, 20}).empty());
  EXPECT_EQ(removed(pages, {10, 20}), (std::vector<AddressRange>{{10, 15}}));
  EXPECT_EQ(removed(pages, {15, 30}), (std::vector<AddressRange>{{15, 20}, {20, 30}}));
  EXPECT_TRUE(pages.empty());
}

TEST(WatchedPages, what_is_gone_is_not_given_up_again) {
  WatchedPages pages;
  pages.add({10, 20});
  pages.forget({12, 14});
  pages.forget({40, 50});
  EXPECT_EQ(removed(pages, {10, 20}), (std::vector<AddressRange>{{10, 12}, {14, 20}}));
  EXPECT_TRUE(pages.empty());
}

TEST(WatchedPages, what_is_watched_anew_is_given_up) {
  WatchedPages pages;
  pages.add({10, 20});
  pages.forget({0, 100});
  pages.add({10, 20});
  EXPECT_TRUE(removed(pages, {10, 20}).empty());
  EXPECT_EQ(removed(pages, {10, 20}), (std::vector<AddressRange>{{10, 20}}));
}

/// Compared with a counter for each address.
TEST(WatchedPages, agrees_with_counters) {
  constexpr std::uintptr_t size = 40;
  std::mt19937 random(1);
  WatchedPages pages;
  std::array<int, size> counts{};
  std::array<bool, size> watched{};
  std::vector<AddressRange> ranges;
  const auto some_range = [&] {
    const std::uintptr_t begin = random() % (size - 1);
    return AddressRange{begin, begin + 1 + random() % (size - 1 - begin)};
  };
  for (int step = 0; step < 20000; ++step) {
    const unsigned what = random() % 8;
    if (what == 0) {
      const AddressRange gone = some_range();
      pages.forget(gone);
      for (std::uintptr_t i = gone.begin; i < gone.end; ++i) watched[i] = false;
    } else if (what <= 4 && ranges.size() < 8) {
      ranges.push_back(some_range());
      pages.add(ranges.back());
      for (std::uintptr_t i = ranges.back().begin; i < ranges.back().end; ++i) {
        ++counts[i];
        watched[i] = true;
      }
    } else if (!ranges.empty()) {
      std::swap(ranges[random() % ranges.size()], ranges.back());
      const AddressRange range = ranges.back();
      ranges.pop_back();
      std::array<bool, size> expected{};
      for (std::uintptr_t i = range.begin; i < range.end; ++i) {
        expected[i] = --counts[i] == 0 && watched[i];
      }
      for (const AddressRange& unused : removed(pages, range)) {
        for (std::uintptr_t i = unused.begin; i < unused.end; ++i) {
          ASSERT_TRUE(expected[i]) << "step " << step;
          expected[i] = false;
        }
      }
      ASSERT_EQ(expected, (std::array<bool, size>{})) << "step " << step;
    }
    std::array<bool, size> left{};
    pages.for_each_watched([&](const AddressRange& each) {
      for (std::uintptr_t i = each.begin; i < each.end; ++i) left[i] = true;
    });
    for (std::uintptr_t i = 0; i < size; ++i) {
      ASSERT_EQ(left[i], counts[i] != 0 && watched[i]) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace fulmar::base
