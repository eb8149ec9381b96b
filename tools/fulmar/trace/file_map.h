// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/trace_file.h"

namespace fulmar::trace {

/// Which rank has read and written which part of a file: the file in cells of equal length from left
/// to right, a lane for each rank.
struct FileMap {
  static constexpr std::size_t cells = 256;
  /// Bytes by cell.
  using Bytes = std::array<std::uint64_t, cells>;
  struct Lane {
    std::uint32_t rank = 0;
    Bytes asked{};    ///< by accesses of the program
    Bytes read{};     ///< by system calls
    Bytes written{};  ///< by system calls
  };

  std::string path;
  std::int64_t first = 0;       ///< where the first cell begins
  std::int64_t cell_bytes = 1;  ///< of the file
  std::vector<Lane> lanes;      ///< by rank; of ranks that had to do with the file
};

/// Maps have so many lanes and files at most.
inline constexpr std::size_t most_map_lanes = 64;
inline constexpr std::size_t most_maps = 16;

/// One map a file, in the order of their paths.
[[nodiscard]] std::vector<FileMap> file_maps(const std::vector<wire::TraceFile>& traces);

/// The map as an SVG element with a title above it. The style sheet is the report's.
[[nodiscard]] std::string svg(const FileMap& map);

}  // namespace fulmar::trace
