// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/attached_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace fulmar::mpi {
namespace {

constexpr std::size_t lines = 2;

struct alignas(64) Memory {
  std::array<std::uint64_t, lines * 8> words{};
  [[nodiscard]] wire::RmaAttachedTable& table() {
    return *reinterpret_cast<wire::RmaAttachedTable*>(words.data());
  }
  [[nodiscard]] bool has(std::uint64_t address, std::uint64_t bytes) {
    return is_published(table(), lines, address, bytes);
  }
};

TEST(AttachedTable, Nothing_is_attached_at_the_start) {
  Memory memory;
  EXPECT_FALSE(memory.has(0, 1));
  EXPECT_FALSE(memory.has(4096, 1));
}

TEST(AttachedTable, Only_what_lies_in_one_piece_is_found) {
  Memory memory;
  publish_attached(memory.table(), lines, std::vector<Win::Attached>{{1000, 100}, {5000, 10}});
  EXPECT_TRUE(memory.has(1000, 100));
  EXPECT_TRUE(memory.has(1099, 1));
  EXPECT_TRUE(memory.has(5003, 7));
  EXPECT_FALSE(memory.has(999, 2));
  EXPECT_FALSE(memory.has(1000, 101));
  EXPECT_FALSE(memory.has(1100, 1));
  EXPECT_FALSE(memory.has(1050, UINT64_MAX));
  publish_attached(memory.table(), lines, std::vector<Win::Attached>{{5000, 10}});
  EXPECT_FALSE(memory.has(1000, 1));
  EXPECT_TRUE(memory.has(5000, 10));
}

TEST(AttachedTable, Pieces_that_do_not_fit_are_not_known) {
  Memory memory;
  const std::size_t fitting = wire::RmaAttachedTable::entries_in(lines);
  std::vector<Win::Attached> attached;
  for (std::uint64_t i = 0; i <= fitting; ++i) attached.push_back({1000 + i * 100, 10});
  publish_attached(memory.table(), lines, attached);
  EXPECT_TRUE(memory.has(attached[fitting - 1].address, 10));
  EXPECT_FALSE(memory.has(attached[fitting].address, 10));
}

TEST(AttachedTable, A_table_that_changes_is_not_believed) {
  Memory memory;
  publish_attached(memory.table(), lines, std::vector<Win::Attached>{{1000, 100}});
  memory.table().version.fetch_add(1);
  EXPECT_FALSE(memory.has(1000, 1));
}

TEST(AttachedTable, Counts_beyond_the_table_are_not_followed) {
  Memory memory;
  memory.table().count = UINT32_MAX;
  EXPECT_FALSE(memory.has(1000, 1));
}

}  // namespace
}  // namespace fulmar::mpi
