// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/group/group.h"

/// Who is in which part of a communicator that is split, without a record for each rank where
/// there is a pattern.
namespace fulmar::mpi {

/// Ranks `first`, `first + step`, ..., whose keys are `first_key`, `first_key + key_step`, ...
struct KeyedRun {
  std::int64_t key_step;
  std::int32_t first;
  std::int32_t step;
  std::int32_t count;
  std::int32_t first_key;
};
static_assert(sizeof(KeyedRun) == 24, "no padding: it travels as it is");

/// Appends to runs that are in the order of ranks, or of a new communicator; joins the run with the
/// last one where the pattern goes on.
void append(std::vector<KeyedRun>& runs, const KeyedRun& run);

/// What a message says of a color; the runs follow behind those of all colors.
struct ColorHead {
  std::int32_t color;
  std::uint32_t runs;
  std::uint64_t free_boards;   ///< bits, of all its members (device/shm_coll/shm_coll_area.h)
  std::uint64_t newest_round;  ///< of all its members
};
static_assert(sizeof(ColorHead) == 24, "no padding: it travels as it is");

/// The members of each color among consecutive ranks. Colors are in ascending order.
class ColorTable {
 public:
  struct Color {
    std::int32_t color = 0;
    std::uint64_t free_boards = 0;
    std::uint64_t newest_round = 0;
    std::vector<KeyedRun> runs;
  };

  /// Adds a single rank, higher than all before.
  void add(int rank, int color, int key, std::uint64_t free_boards, std::uint64_t newest_round);
  /// Adds the table of the ranks that follow.
  void merge(const ColorTable& next);
  /// Changes the order of each color from that of the ranks to that of their keys, and of the ranks
  /// where keys are equal.
  void order_by_key();

  [[nodiscard]] std::span<const Color> colors() const noexcept { return colors_; }
  [[nodiscard]] std::vector<std::int32_t> names() const;
  /// Null: no member has the color.
  [[nodiscard]] const Color* find(std::int32_t color) const noexcept;
  /// Those of these colors, which are ascending, that are here.
  [[nodiscard]] ColorTable part(std::span<const std::int32_t> names) const;

  /// Bytes of a table in a message.
  [[nodiscard]] static std::size_t bytes(std::uint32_t colors, std::uint32_t runs) noexcept {
    return std::size_t{colors} * sizeof(ColorHead) + std::size_t{runs} * sizeof(KeyedRun);
  }
  [[nodiscard]] std::uint32_t run_count() const noexcept;
  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Reads what `encode` has written. False where it makes no sense as a table of `ranks` ranks;
  /// then the table is empty.
  [[nodiscard]] bool decode(std::span<const std::byte> bytes, std::uint32_t colors,
                            std::uint32_t runs, int ranks);

 private:
  std::vector<Color> colors_;
};

/// How many ranks there are in runs.
[[nodiscard]] std::int64_t count_of(std::span<const KeyedRun> runs) noexcept;
/// The place of a rank in runs; -1 if it is not there.
[[nodiscard]] int place_of(std::span<const KeyedRun> runs, int rank) noexcept;
/// The processes of runs of ranks, where `processes` are those of all ranks. A formula as far as
/// possible.
[[nodiscard]] ProcessList select(const ProcessList& processes, std::span<const KeyedRun> runs);

}  // namespace fulmar::mpi
