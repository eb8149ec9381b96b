// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/args.h"

/// Which algorithm a collective call takes. One table (choice.cc),
/// printed by `fulmar info`; the option FULMAR_COLL names algorithms that are to be taken instead.
///
/// All ranks of a call must choose alike, so only what is the same in all of them counts: the
/// number of ranks, bytes, the operation; never datatypes, addresses or the state of a process.
namespace fulmar::mpi {

enum class Family : std::uint8_t {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
};
inline constexpr std::size_t family_count = 10;

enum class Way : std::uint8_t {
  board,
  dissemination,
  binomial,
  chain,
  direct,
  ring,
  bruck,
  pairwise,
  doubling,
  halving,
  segments,
  spread,
  deal,
  levels,
};
inline constexpr std::size_t way_count = 14;

/// What cannot be overridden.
enum class Needs : std::uint8_t {
  nothing,
  commutative,   ///< an operation that commutes
  equal_blocks,  ///< not the v-forms
  board,         ///< a blocking call among ranks of one node that have a board (mpi/coll/board.h)
};

/// A line of the table.
struct ChoiceRow {
  Family family;
  Way way;
  Needs needs;
  Count from_bytes;  ///< taken from here
  Count to_bytes;    ///< to here
  int from_ranks;
  int to_ranks;
  bool not_crowded;  ///< only where every rank has a core
  const char* text;
};

/// Of each family the first line that fits is taken; the last one always does.
std::span<const ChoiceRow> choice_rows() noexcept;
const char* family_name(Family family) noexcept;
/// What the bytes of a family's lines are.
const char* bytes_of_family(Family family) noexcept;
const char* way_name(Way way) noexcept;

/// What is known of a call.
struct CallFacts {
  int ranks = 1;
  Count bytes = 0;
  bool commutative = true;
  bool equal_blocks = true;
  bool shared_nodes = false;  ///< several nodes, and several ranks on some of them
  bool one_level = false;     ///< a part of an algorithm in levels
};

class Choices {
 public:
  Choices() noexcept { set_boards(); }
  /// `wanted` is the option: "auto", or "allreduce:ring,bcast:binomial". What names no algorithm is
  /// left out, with a text in `complaints`.
  Choices(std::string_view wanted, std::vector<std::string>& complaints);

  /// More ranks than cores on the node; the same in all ranks of a job.
  void set_crowded() noexcept {
    crowded_ = true;
    set_boards();
  }
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }

  /// Whether a call that could take the board does.
  [[nodiscard]] bool takes_board(Family family, int ranks, Count bytes) const noexcept {
    const BoardRange& range = boards_[static_cast<std::size_t>(family)];
    return bytes < range.to_bytes && ranks <= range.to_ranks;
  }

  /// For a call that goes by messages.
  [[nodiscard]] Way choose(Family family, const CallFacts& facts) const noexcept;

 private:
  /// Of a family's calls; none where another algorithm is wanted.
  struct BoardRange {
    Count to_bytes = 0;
    int to_ranks = 0;
  };

  void set_boards() noexcept;

  std::array<BoardRange, family_count> boards_;
  std::array<std::optional<Way>, family_count> wanted_;
  bool crowded_ = false;
};

}  // namespace fulmar::mpi
