// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/kept_sums.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace fulmar::mpi {
namespace {

std::vector<std::byte> random_bytes(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

/// A file in memory, of which ranks have pieces.
class KeptSumsTest : public testing::Test {
 protected:
  RankPiece piece(std::int64_t offset, std::int64_t length, int rank) const {
    const auto bytes = std::span(file_).subspan(static_cast<std::size_t>(offset),
                                                static_cast<std::size_t>(length));
    return {{offset, length, file_checksum(offset, bytes)}, rank};
  }
  void put(std::vector<RankPiece> pieces) { EXPECT_FALSE(sums_.put(pieces, 3).has_value()); }
  std::optional<KeptSums::Mismatch> compare(std::vector<RankPiece> pieces) {
    compared_ = 0;
    return sums_.compare(pieces, compared_);
  }

  std::vector<std::byte> file_ = random_bytes(3 * check_block_bytes);
  KeptSums sums_;
  std::uint64_t compared_ = 0;
};

TEST(FileChecksum, of_two_parts_is_the_sum_of_both) {
  const std::vector<std::byte> bytes = random_bytes(200);
  const std::span<const std::byte> all(bytes);
  for (std::int64_t offset : {0, 1, 7, 8, 4093}) {
    const std::uint64_t whole = file_checksum(offset, all);
    for (std::size_t cut = 0; cut <= all.size(); ++cut) {
      EXPECT_EQ(whole, file_checksum(offset, all.first(cut)) +
                           file_checksum(offset + static_cast<Count>(cut), all.subspan(cut)));
    }
  }
}

TEST(FileChecksum, changes_with_each_bit_and_each_place) {
  std::vector<std::byte> bytes = random_bytes(24);
  const std::uint64_t before = file_checksum(5, bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_NE(file_checksum(5, bytes), before) << bit;
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
  }
  EXPECT_NE(file_checksum(6, bytes), before);
  std::swap(bytes[0], bytes[16]);
  EXPECT_NE(file_checksum(5, bytes), before);
}

TEST_F(KeptSumsTest, what_was_written_is_read_back_in_other_pieces) {
  put({piece(0, 100, 0), piece(100, 200, 1), piece(300, 50, 0), piece(4096, 4096, 2)});
  EXPECT_FALSE(compare({piece(0, 350, 1)}));
  EXPECT_EQ(compared_, 350U);
  EXPECT_FALSE(
      compare({piece(4096, 10, 0), piece(4106, 4086, 1), piece(0, 40, 2), piece(40, 60, 2)}));
  EXPECT_EQ(compared_, 4096U + 100U);
  // Nothing is said where no row of pieces ends at the same place.
  EXPECT_FALSE(compare({piece(0, 99, 0), piece(101, 100, 0)}));
  EXPECT_EQ(compared_, 0U);
}

TEST_F(KeptSumsTest, a_byte_that_has_changed_is_found_and_named) {
  put({piece(0, 100, 0), piece(100, 200, 1)});
  file_[150] ^= std::byte{1};
  const auto found = compare({piece(0, 100, 0), piece(0, 300, 2)});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 0);
  EXPECT_EQ(found->end, 300);
  EXPECT_EQ(found->reader, 2);
  EXPECT_EQ(found->writer, 0);
  EXPECT_EQ(found->call, 3U);
}

TEST_F(KeptSumsTest, each_reader_of_the_same_bytes_is_compared) {
  put({piece(0, 100, 0)});
  RankPiece wrong = piece(0, 100, 1);
  ++wrong.piece.sum;
  const auto found = compare({piece(0, 100, 0), wrong, piece(0, 100, 2)});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reader, 1);
  EXPECT_EQ(compared_, 300U);
}

TEST_F(KeptSumsTest, new_data_take_the_place_of_old) {
  put({piece(0, 300, 0)});
  std::fill(file_.begin() + 100, file_.begin() + 200, std::byte{9});
  put({piece(100, 100, 1)});
  EXPECT_FALSE(compare({piece(100, 100, 0)}));
  EXPECT_EQ(compared_, 100U);
  EXPECT_FALSE(compare({piece(0, 300, 0)}));  // of the rest nothing is known any more
  EXPECT_EQ(compared_, 0U);
}

TEST_F(KeptSumsTest, what_is_forgotten_is_not_compared) {
  put({piece(0, 100, 0), piece(100, 100, 0), piece(200, 100, 0)});
  sums_.forget(150, 151);
  EXPECT_EQ(sums_.size(), 2U);
  sums_.forget(0, 1000);
  EXPECT_EQ(sums_.size(), 0U);
}

TEST_F(KeptSumsTest, ranks_that_write_the_same_bytes_are_in_conflict) {
  std::vector<RankPiece> pieces = {piece(50, 100, 2), piece(0, 100, 0), piece(200, 100, 1)};
  const auto found = sums_.put(pieces, 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->first, 50);
  EXPECT_EQ(found->end, 100);
  EXPECT_EQ(found->ranks[0], 0);
  EXPECT_EQ(found->ranks[1], 2);
  EXPECT_FALSE(compare({piece(0, 100, 0)}));
  EXPECT_EQ(compared_, 0U);
  EXPECT_FALSE(compare({piece(200, 100, 0)}));
  EXPECT_EQ(compared_, 100U);
}

TEST_F(KeptSumsTest, a_rank_may_write_bytes_twice) {
  std::vector<RankPiece> pieces = {piece(0, 100, 1), piece(50, 100, 1)};
  EXPECT_FALSE(sums_.put(pieces, 1).has_value());
  EXPECT_FALSE(compare({piece(0, 100, 0)}));
  EXPECT_EQ(compared_, 0U);
}

TEST_F(KeptSumsTest, the_same_data_are_no_conflict) {
  std::vector<RankPiece> pieces = {piece(0, 100, 0), piece(0, 100, 1), piece(0, 100, 2)};
  EXPECT_FALSE(sums_.put(pieces, 1).has_value());
  EXPECT_FALSE(compare({piece(0, 100, 0)}));
  EXPECT_EQ(compared_, 100U);
}

TEST(CheckedPiece, of_another_process_may_be_anything) {
  EXPECT_TRUE((CheckedPiece{4000, 96, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{4000, 97, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{-1, 1, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{0, 0, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{0, -5, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{INT64_MAX, 1, 0}.is_valid()));
  EXPECT_FALSE((CheckedPiece{INT64_MAX - 4, INT64_MAX, 0}.is_valid()));
}

}  // namespace
}  // namespace fulmar::mpi
