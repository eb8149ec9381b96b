// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "mpi/args.h"

// Checksums of collective writes (FULMAR_CHECK=files)
// --------------------------------------------------- A rank cuts what it has written into pieces:
// at the gaps of its view, and where a block of `check_block_bytes` of the file ends. Of each piece
// it sends offset, length and checksum to the rank that keeps those of this part of the file. Of a
// collective read the same is made of what has come into memory, and compared.
//
// Ranks that read cut the file in other places than those that wrote. So the checksum of a piece is
// a sum over its bytes, each weighted by its place in the file: checksums of neighbours add up to
// that of both, and are compared where a row of pieces written begins and ends with a row of pieces
// read.

namespace fulmar::mpi {

inline constexpr Count check_block_bytes = 4096;

/// Of bytes from `offset` on in a file. That of two parts which follow each other is the sum
/// of both checksums; bytes of value 0 add nothing.
[[nodiscard]] std::uint64_t file_checksum(Count offset, std::span<const std::byte> bytes) noexcept;

/// A part of a file, within one block.
struct CheckedPiece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::uint64_t sum = 0;

  [[nodiscard]] std::int64_t end() const noexcept { return offset + length; }
  /// Whether it can be one at all; they come from other processes.
  [[nodiscard]] bool is_valid() const noexcept {
    return offset >= 0 && length > 0 && length <= check_block_bytes &&
           offset < INT64_MAX - length &&
           offset / check_block_bytes == (offset + length - 1) / check_block_bytes;
  }
};

/// A piece, and which rank gave it.
struct RankPiece {
  CheckedPiece piece;
  int rank = 0;
};

/// The checksums that one rank keeps.
class KeptSums {
 public:
  /// More pieces are not kept: what is written then is not compared.
  static constexpr std::size_t most_pieces = std::size_t{1} << 20;

  /// Two ranks have written the same bytes in one call.
  struct Conflict {
    std::int64_t first = 0;
    std::int64_t end = 0;
    int ranks[2] = {0, 0};
  };
  /// What was read is not what was written.
  struct Mismatch {
    std::int64_t first = 0;
    std::int64_t end = 0;
    int writer = 0;
    std::uint64_t call = 0;  ///< the number of the collective write
    int reader = 0;
  };

  /// What all ranks have written in collective write number `call`; reorders the pieces. The first
  /// conflict, unless both ranks wrote the same data. What is in conflict is not kept.
  std::optional<Conflict> put(std::span<RankPiece> written, std::uint64_t call);
  /// Nothing is known of these bytes any more.
  void forget(std::int64_t first, std::int64_t end) noexcept;
  /// Compares what all ranks have read; reorders the pieces. Adds to `compared` how many bytes
  /// could be compared.
  [[nodiscard]] std::optional<Mismatch> compare(std::span<RankPiece> read,
                                                std::uint64_t& compared) const;

  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }

 private:
  struct Kept {
    std::int64_t end;
    std::uint64_t sum;
    std::uint64_t call;
    int rank;
  };

  std::map<std::int64_t, Kept> kept_;  ///< by offset; they do not overlap
};

}  // namespace fulmar::mpi
