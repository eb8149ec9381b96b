// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::wire {

/// The beginning of the memory file from which a process takes the memory of MPI_Alloc_mem: where
/// each mapped region of it lies in the process's address space and in the file. The owner writes,
/// ranks of the node read. The rest of the file are the regions. All zero when the file is made.
///
/// `version` is odd while the table changes. `removals` grows with each region that is taken out.
struct RmaHeapTable {
  struct Region {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> offset;
    std::atomic<std::uint64_t> bytes;
  };

  /// The name that the owner gives to others; see RmaHeapName.
  std::atomic<std::uint64_t> name;
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> count;
  std::atomic<std::uint32_t> removals;
  std::uint32_t reserved;

  [[nodiscard]] Region* regions() noexcept { return reinterpret_cast<Region*>(this + 1); }
  [[nodiscard]] const Region* regions() const noexcept {
    return reinterpret_cast<const Region*>(this + 1);
  }
};
static_assert(sizeof(RmaHeapTable) == 24 && sizeof(RmaHeapTable::Region) == 24);

/// Of the table in the file; the first region begins behind it.
inline constexpr std::uint64_t rma_heap_table_bytes = std::uint64_t{256} << 10;
inline constexpr std::size_t most_rma_heap_regions =
    rma_heap_table_bytes / sizeof(RmaHeapTable::Region) - 1;

/// How a process names its heap to the ranks of its node: its process id, the descriptor of the file
/// there, and a key that the table repeats, so that no other file is taken for it. 0: it has none.
struct RmaHeapName {
  static constexpr unsigned process_bits = 22;  ///< Linux gives no higher ids
  static constexpr unsigned descriptor_bits = 20;
  static constexpr unsigned key_bits = 22;

  std::uint32_t process;
  std::uint32_t descriptor;
  std::uint32_t key;

  [[nodiscard]] static constexpr bool fits(std::uint64_t value, unsigned bits) noexcept {
    return value >> bits == 0;
  }
  /// Never 0 for a process, whose id is not. Each part has to fit its bits.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{key} << (process_bits + descriptor_bits) |
           std::uint64_t{descriptor} << process_bits | process;
  }
  [[nodiscard]] static constexpr RmaHeapName from(std::uint64_t word) noexcept {
    const auto part = [word](unsigned from_bit, unsigned bits) {
      return static_cast<std::uint32_t>(word >> from_bit & ((std::uint64_t{1} << bits) - 1));
    };
    return {part(0, process_bits), part(process_bits, descriptor_bits),
            part(process_bits + descriptor_bits, key_bits)};
  }
};

}  // namespace fulmar::wire
