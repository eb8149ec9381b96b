// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fulmar::runtime {

/// A copy of this rank's area of the job's segment while that is not mapped: the pages that are not all
/// zero. Nobody writes to the area meanwhile.
class AreaImage {
 public:
  static constexpr std::size_t page_bytes = 4096;

  /// The memory file that is mapped, if its descriptor is known: it knows which pages were never touched.
  struct File {
    int descriptor = -1;
    std::uint64_t offset = 0;  ///< of the area
  };
  /// Copies the area, whose size is a multiple of a page, and gives its memory back to the system: it reads as
  /// zero afterwards, for all that map it, where the system can do that. Without a file it takes
  /// longer.
  void save(std::span<std::byte> area, const File& file);
  /// Writes what was saved into an area of that size which is all zero, and forgets it.
  void restore(std::span<std::byte> area) noexcept;

  /// How many bytes are kept.
  [[nodiscard]] std::size_t bytes() const noexcept { return contents_.size(); }

 private:
  void save_piece(std::span<std::byte> area, std::size_t begin, std::size_t end);

  std::vector<std::uint32_t> pages_;  ///< their numbers, ascending
  std::vector<std::byte> contents_;
};

}  // namespace fulmar::runtime
