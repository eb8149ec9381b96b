// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fulmar::mpi {

/// How a Fortran compiler writes logicals of one size (MPI_Abi_set_fortran_booleans, MPI 5.0
/// section 20.4). Arithmetic knows plain logicals only: integers of the same size that are 1 or 0.
struct LogicalValues {
  static constexpr std::size_t most_bytes = 16;

  std::size_t bytes = 0;  ///< 0: not known; 1, 2, 4, 8 or 16
  std::array<std::byte, most_bytes> yes{};
  std::array<std::byte, most_bytes> no{};

  /// Turns `count` logicals of the compiler into plain ones: all but `no` is true. `to` may be
  /// `from`; any alignment.
  void make_plain(const std::byte* from, std::byte* to, std::int64_t count) const noexcept;
  /// Turns plain logicals into those of the compiler, likewise.
  void from_plain(const std::byte* from, std::byte* to, std::int64_t count) const noexcept;
};

}  // namespace fulmar::mpi
