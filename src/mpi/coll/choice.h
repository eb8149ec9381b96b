// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/args.h"

/// The choice of the algorithm of a collective call. One table (choice.cc),
/// printed by `fulmar info`; the option FULMAR_COLL names algorithms to use instead.
///
/// All ranks of a call must choose alike, so the choice depends only on values that are the same in
/// all of them: the number of ranks, bytes, the operation; never datatypes, addresses or the state
/// of a process.
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
  shm,
  read,
  write,
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
inline constexpr std::size_t way_count = 16;

/// Requirements that the option cannot override.
enum class Needs : std::uint8_t {
  nothing,
  commutative,   ///< an operation that commutes
  equal_blocks,  ///< not the v-forms
  coll_area,     ///< ranks of one node with a collective area (mpi/coll/shm/shm_coll.h)
};

/// Whether ranks have cores of their own.
enum class Cores : std::uint8_t {
  any,
  own,
  shared,  ///< more ranks than cores
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
  Cores cores;  ///< only where ranks have such
  const char* text;
};

/// Of each family the first matching line is used; the last one always matches.
std::span<const ChoiceRow> choice_rows() noexcept;
const char* family_name(Family family) noexcept;
/// What the bytes in a family's lines count.
const char* bytes_of_family(Family family) noexcept;
const char* way_name(Way way) noexcept;

/// The properties of a call by which its algorithm is chosen.
struct CallShape {
  int ranks = 1;
  Count bytes = 0;
  bool commutative = true;
  bool equal_blocks = true;
  bool shared_nodes = false;  ///< several nodes, and several ranks on some of them
  bool one_level = false;     ///< a part of an algorithm in levels
};

class Choices {
 public:
  Choices() noexcept { set_shm_limits(); }
  /// `wanted` is the option: "auto", or "allreduce:ring,bcast:binomial"; "cores:own" and
  /// "cores:shared" say whether ranks count as having cores of their own. Unknown names are ignored,
  /// with a text in `complaints`.
  Choices(std::string_view wanted, std::vector<std::string>& complaints);

  /// More ranks than cores on the node; the same in all ranks of a job.
  void set_crowded() noexcept {
    if (!cores_wanted_) crowded_ = true;
    set_shm_limits();
  }
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }

  /// Whether a call that could take the collective area does.
  [[nodiscard]] bool takes_shm(Family family, int ranks, Count bytes) const noexcept {
    return bytes >= coll_areas_[static_cast<std::size_t>(family)][group_of(ranks)];
  }
  /// Whether its members then read, or write, each other's memory.
  [[nodiscard]] bool takes_reads(Family family, int ranks, Count bytes) const noexcept {
    return bytes >= reads_[static_cast<std::size_t>(family)][group_of(ranks)];
  }

  /// For a call that goes by messages.
  [[nodiscard]] Way choose(Family family, const CallShape& shape) const noexcept;

 private:
  /// Numbers of ranks for which lines with collective areas may differ: 1, 2, up to 4, 8 and so on
  /// to 64, and more, which have none.
  static constexpr std::size_t rank_groups = 8;
  static constexpr std::size_t group_of(int ranks) noexcept {
    return std::min<std::size_t>(std::bit_width(static_cast<unsigned>(ranks - 1)), rank_groups - 1);
  }
  /// Bytes from which on such a line is taken, for each group.
  using Limits = std::array<Count, rank_groups>;
  static constexpr Count never = std::numeric_limits<Count>::max();

  void set_shm_limits() noexcept;

  std::array<Limits, family_count> coll_areas_;
  std::array<Limits, family_count> reads_;
  std::array<std::optional<Way>, family_count> wanted_;
  bool crowded_ = false;
  bool cores_wanted_ = false;  ///< by the option
};

}  // namespace fulmar::mpi
