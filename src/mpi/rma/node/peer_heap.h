// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/os/fd.h"
#include "wire/rma/rma_heap_table.h"

namespace fulmar::mpi {

/// A region of another process's heap that is mapped here.
class HeapMapping {
 public:
  HeapMapping(std::uint64_t address, std::span<std::byte> here) noexcept
      : address_(address), here_(here) {}
  ~HeapMapping();
  HeapMapping(const HeapMapping&) = delete;
  HeapMapping& operator=(const HeapMapping&) = delete;

  /// Where the owner's `bytes` bytes from `address` on are here; null: they are not within it.
  [[nodiscard]] std::byte* find(std::uint64_t address, std::uint64_t bytes) const noexcept {
    if (address < address_ || address - address_ > here_.size() ||
        bytes > here_.size() - (address - address_)) {
      return nullptr;
    }
    return here_.data() + (address - address_);
  }

 private:
  std::uint64_t address_;  ///< of the owner
  std::span<std::byte> here_;
};

/// The memory of MPI_Alloc_mem of another rank of the node (SharedHeap). Each region is mapped when it
/// is first needed, once for all windows. Nothing that the owner writes is trusted: a region is
/// mapped only where it lies within a file that cannot shrink, so that no access of it faults.
///
/// Thread rule: the lock of the library.
class PeerHeap {
 public:
  /// The heap with this name (wire::RmaHeapName), whose file is opened through the owner's process.
  /// Null where the system does not allow that, or the file is another one.
  static std::unique_ptr<PeerHeap> open(std::uint64_t name);
  /// The same from the file itself, which stays open.
  static std::unique_ptr<PeerHeap> open(base::UniqueFd file, std::uint64_t name);
  ~PeerHeap();
  PeerHeap(const PeerHeap&) = delete;
  PeerHeap& operator=(const PeerHeap&) = delete;

  /// The region with the owner's `bytes` bytes from `address` on. Null: they are not memory of the
  /// heap, or it cannot be mapped. What is mapped stays so for as long as the caller keeps it; after
  /// the owner has freed the region its contents mean nothing.
  [[nodiscard]] std::shared_ptr<const HeapMapping> find(std::uint64_t address,
                                                        std::uint64_t bytes) noexcept;

 private:
  PeerHeap(base::UniqueFd file, const wire::RmaHeapTable& table, std::uint64_t file_bytes) noexcept
      : file_(std::move(file)), table_(table), file_bytes_(file_bytes) {}

  [[nodiscard]] std::shared_ptr<const HeapMapping> map(std::uint64_t address,
                                                       std::uint64_t bytes) noexcept;

  base::UniqueFd file_;
  const wire::RmaHeapTable& table_;
  std::uint64_t file_bytes_;
  std::uint32_t removals_ = 0;  ///< in the table, when the first of `mappings_` was made
  std::vector<std::shared_ptr<const HeapMapping>> mappings_;
};

}  // namespace fulmar::mpi
