// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/os/fd.h"
#include "wire/rma/rma_heap_table.h"

namespace fulmar::mpi {

/// The memory of MPI_Alloc_mem where other ranks share the node: an anonymous memory file, of which
/// they map what windows use (PeerHeap), so that they load and store there. One descriptor for each
/// process, however many blocks it has.
///
/// Short blocks share *slabs* of one size class, which stay mapped; each longer one is a region of its
/// own. Freed regions are kept for blocks of the same length, up to `most_kept_bytes`; others go back
/// to the system, and their place in the file is never used again: a peer that still maps it, because
/// the program has freed memory of a living window, changes no other block.
///
/// All metadata is in the owner's private memory, where no peer's stray store reaches it.
///
/// Thread rule: the lock of the library.
class SharedHeap {
 public:
  /// Null where the system gives no memory file, limits the size of files, or accounts memory
  /// strictly (vm.overcommit_memory=2: pages of the file would be refused on first use, by a signal).
  static std::unique_ptr<SharedHeap> open();
  ~SharedHeap();
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;

  /// `bytes` bytes, more than 0, at a multiple of `alignment`, a power of two of at least 64. The
  /// contents are undefined. Null: there is no room here, which another allocator may still have.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) noexcept;

  enum class Freed : std::uint8_t {
    yes,
    not_here,  ///< not memory of this heap
    bad        ///< in this heap, but no block begins there, or it was freed already
  };
  Freed free(void* block) noexcept;

  /// For a checkpoint: from now on what is allocated is memory of this process alone, at the same
  /// addresses with the same contents, and there is no room for more regions. No rank maps any of it. A region for
  /// which the system has no other memory stays as it is.
  void make_private() noexcept;

  /// What other ranks open the heap with; see wire::RmaHeapName. 0: it is private.
  [[nodiscard]] std::uint64_t name() const noexcept { return name_; }

  static constexpr std::size_t slab_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_slab_block_bytes = std::size_t{64} << 10;
  static constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;
  static constexpr std::size_t most_kept_regions = 16;

 private:
  /// What is mapped in one piece.
  struct Region {
    std::byte* begin;
    std::uint64_t bytes;
    std::uint64_t offset;             ///< in the file
    std::size_t entry;                ///< in the table
    std::size_t block_bytes = 0;      ///< of a slab; 0: one block alone
    bool live = true;                 ///< of a block alone: not freed
    std::vector<bool> live_blocks{};  ///< of a slab
  };
  using Regions = std::map<std::uintptr_t, Region>;

  SharedHeap(base::UniqueFd file, wire::RmaHeapTable& table, std::uint64_t name) noexcept
      : file_(std::move(file)), table_(table), name_(name) {}

  [[nodiscard]] void* allocate_in_slab(std::size_t bytes) noexcept;
  [[nodiscard]] void* allocate_alone(std::size_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Region* take_kept(std::uint64_t bytes, std::size_t alignment) noexcept;
  [[nodiscard]] Region* map_region(std::uint64_t bytes, std::size_t alignment) noexcept;
  Freed free_in_slab(Region& slab, std::byte* block) noexcept;
  void keep(Region& region) noexcept;
  void unmap(std::uintptr_t begin) noexcept;
  void publish(const Region& region) noexcept;
  void withdraw(const Region& region) noexcept;

  base::UniqueFd file_;
  wire::RmaHeapTable& table_;
  std::uint64_t name_;
  std::uint64_t end_ = wire::rma_heap_table_bytes;  ///< of the file, as far as it was given out
  Regions regions_;                                 ///< by address
  std::vector<std::uintptr_t> entries_;             ///< the region of each entry of the table
  std::map<std::size_t, std::vector<std::byte*>> free_blocks_;  ///< of slabs, by block length
  std::vector<std::uintptr_t> kept_;  ///< freed regions that stay mapped, the oldest first
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace fulmar::mpi
