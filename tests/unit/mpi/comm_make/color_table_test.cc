// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/color_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace fulmar::mpi {
namespace {

struct Arguments {
  int color;
  int key;
};
using All = std::vector<Arguments>;

All arguments(int ranks, const std::function<Arguments(int)>& of) {
  All all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(of(rank));
  return all;
}

/// Of the ranks from `first` on, as the ranks of a tree put them together.
ColorTable table_of(const All& all, int first, int count) {
  ColorTable table;
  if (count == 1) {
    const Arguments& one = all[static_cast<std::size_t>(first)];
    table.add(first, one.color, one.key, ~std::uint64_t{0}, 1);
    return table;
  }
  table = table_of(all, first, count / 2);
  table.merge(table_of(all, first + count / 2, count - count / 2));
  return table;
}

std::vector<int> expected(const All& all, int color) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].color == color) ranks.push_back(static_cast<int>(rank));
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  return ranks;
}

std::vector<int> listed(const std::vector<KeyedRun>& runs) {
  std::vector<int> ranks;
  for (const KeyedRun& run : runs) {
    for (int i = 0; i < run.count; ++i) ranks.push_back(run.first + run.step * i);
  }
  return ranks;
}

/// The most runs that a color takes before it is ordered.
std::size_t check(const All& all) {
  const int ranks = static_cast<int>(all.size());
  ColorTable table = table_of(all, 0, ranks);
  std::size_t most = 0;
  for (const ColorTable::Color& one : table.colors()) most = std::max(most, one.runs.size());
  const std::vector<std::byte> sent = table.encode();
  ColorTable received;
  const auto colors = static_cast<std::uint32_t>(table.colors().size());
  EXPECT_TRUE(received.decode(sent, colors, table.run_count(), ranks));
  received.order_by_key();
  EXPECT_EQ(received.names(), table.names());
  for (const ColorTable::Color& one : received.colors()) {
    const std::vector<int> wanted = expected(all, one.color);
    EXPECT_EQ(listed(one.runs), wanted) << "color " << one.color;
    EXPECT_EQ(count_of(one.runs), static_cast<std::int64_t>(wanted.size()));
    const ProcessList odd = select(ProcessList(7, 2, ranks), one.runs);
    for (std::size_t place = 0; place < wanted.size(); ++place) {
      EXPECT_EQ(place_of(one.runs, wanted[place]), static_cast<int>(place));
      EXPECT_EQ(odd[static_cast<int>(place)], static_cast<ProcessId>(7 + 2 * wanted[place]));
    }
  }
  EXPECT_EQ(received.find(-12345), nullptr);
  return most;
}

TEST(ColorTable, rows_columns_and_nodes_take_one_run_for_each_color) {
  constexpr int ranks = 100;
  EXPECT_EQ(check(arguments(ranks, [](int rank) { return Arguments{rank / 10, rank}; })), 1U);
  EXPECT_EQ(check(arguments(ranks, [](int rank) { return Arguments{rank % 10, rank}; })), 1U);
  EXPECT_EQ(check(arguments(ranks, [](int rank) { return Arguments{rank % 7, 0}; })), 1U);
  EXPECT_EQ(check(arguments(ranks, [](int rank) { return Arguments{3, -rank}; })), 1U);
  EXPECT_EQ(check(arguments(ranks, [](int rank) { return Arguments{rank, 5}; })), 1U);
}

TEST(ColorTable, keys_at_the_ends_of_their_range_keep_their_order) {
  (void)check(arguments(9, [](int rank) {
    return Arguments{rank % 2, rank % 3 == 0 ? INT32_MIN : INT32_MAX - rank % 3};
  }));
}

TEST(ColorTable, any_colors_and_keys_give_what_sorting_gives) {
  std::mt19937 random(3);
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  for (int round = 0; round < 300; ++round) {
    const int ranks = 1 + below(60);
    const int colors = 1 + below(6);
    const int keys = 1 + below(ranks);
    const int block = 1 + below(4);
    (void)check(arguments(ranks, [&](int rank) {
      const bool regular = below(10) != 0;
      return Arguments{regular ? rank / block % colors : below(colors),
                       round % 2 == 0 ? rank * (keys - ranks / 2) : below(keys)};
    }));
  }
}

TEST(ColorTable, part_holds_the_named_colors_that_exist) {
  const ColorTable table =
      table_of(arguments(12, [](int rank) { return Arguments{rank % 4, 0}; }), 0, 12);
  EXPECT_EQ(table.part(std::vector<std::int32_t>{-1, 1, 3, 9}).names(),
            (std::vector<std::int32_t>{1, 3}));
}

TEST(ColorTable, boards_and_rounds_are_those_that_suit_all_members) {
  ColorTable table;
  table.add(0, 1, 0, 0b0110, 5);
  table.add(1, 1, 0, 0b1100, 9);
  table.add(2, 2, 0, 0b1111, 2);
  EXPECT_EQ(table.find(1)->free_boards, 0b0100U);
  EXPECT_EQ(table.find(1)->newest_round, 9U);
  EXPECT_EQ(table.find(2)->free_boards, 0b1111U);
}

/// A table of a single color and run, with one number changed.
bool is_accepted(const std::function<void(ColorHead&, KeyedRun&)>& change, std::uint32_t colors = 1,
                 std::uint32_t runs = 1) {
  ColorHead head{4, 1, 0, 0};
  KeyedRun run{1, 2, 3, 3, 0};
  change(head, run);
  std::vector<std::byte> bytes(sizeof head + sizeof run);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, &run, sizeof run);
  ColorTable table;
  const bool good = table.decode(bytes, colors, runs, 9);
  EXPECT_EQ(table.colors().empty(), !good);
  return good;
}

TEST(ColorTable, numbers_from_others_that_make_no_sense_are_refused) {
  EXPECT_TRUE(is_accepted([](ColorHead&, KeyedRun&) {}));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun&) {}, 2));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun&) {}, 1, 2));
  EXPECT_FALSE(is_accepted([](ColorHead& head, KeyedRun&) { head.runs = 0; }));
  EXPECT_FALSE(is_accepted([](ColorHead& head, KeyedRun&) { head.runs = 2; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.count = 0; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.count = 4; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.count = INT32_MAX; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.first = -1; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.first = 9; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.step = 0; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.step = -2; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.key_step = INT64_MAX; }));
  EXPECT_FALSE(is_accepted([](ColorHead&, KeyedRun& run) { run.key_step = INT32_MAX; }));
}

}  // namespace
}  // namespace fulmar::mpi
