// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fulmar::mpi {

struct Layout;
using LayoutRef = std::shared_ptr<const Layout>;

/// The compact program of a datatype: the places of its bytes, in the order of the type map, merged
/// as far as possible. An immutable tree whose subtrees are shared with the datatypes it was built
/// from, so a constructor costs what its own arguments cost, whatever they consist of.
///
///   run       `block` bytes at `at`
///   strided   `count` runs of `block` bytes, `stride` apart, the first at `at`
///   loop      `count` times `body`, `stride` apart, the first shifted by `at`
///   blocks    the runs of the list, shifted by `at`
///   sequence  the parts of the list one after the other, shifted by `at`
///
/// Displacements are in bytes from the address of the buffer. "Packed" bytes are counted from the
/// beginning of the data without gaps. Walks (walk.h) can start at any packed byte: all shapes know
/// how many packed bytes each repetition or list entry has, so they divide or search instead of
/// replaying.
struct Layout {
  enum class Shape : std::uint8_t { run, strided, loop, blocks, sequence };

  struct Block {
    std::int64_t at;
    std::int64_t bytes;
    std::int64_t packed;  ///< packed bytes before this block
  };
  struct Part {
    std::int64_t at;
    std::int64_t packed;
    LayoutRef layout;
  };

  Shape shape = Shape::run;
  std::uint16_t depth = 1;  ///< levels of the tree
  std::int64_t bytes = 0;   ///< packed bytes of the whole
  std::int64_t at = 0;
  std::int64_t count = 1;
  std::int64_t stride = 0;
  std::int64_t block = 0;  ///< run, strided: bytes; loop: packed bytes of the body
  LayoutRef body;
  std::shared_ptr<const std::vector<Block>> blocks;
  std::shared_ptr<const std::vector<Part>> parts;

  /// Deeper trees are refused by the constructors of datatypes: walks are recursive.
  static constexpr std::uint16_t max_depth = 500;
};

/// An element of a sequence: `layout`, its displacements counted from `at`.
struct PlacedLayout {
  std::int64_t at;
  LayoutRef layout;
};

// Builders. The caller has checked that no displacement or size overflows (see type_map.h).
// They simplify: neighbouring runs become one, evenly spaced runs a strided, a loop over one a
// body.

[[nodiscard]] LayoutRef make_run(std::int64_t at, std::int64_t bytes);
[[nodiscard]] LayoutRef make_shifted(const LayoutRef& layout, std::int64_t by);
[[nodiscard]] LayoutRef make_repeated(const LayoutRef& layout, std::int64_t count,
                                      std::int64_t stride);
[[nodiscard]] LayoutRef make_sequence(std::span<const PlacedLayout> parts);

}  // namespace fulmar::mpi
