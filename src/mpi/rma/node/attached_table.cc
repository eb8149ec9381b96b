// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/attached_table.h"

#include <algorithm>

#include "mpi/rma/node/node_memory.h"

namespace fulmar::mpi {

using wire::RmaAttachedTable;

RmaAttachedTable* NodeTables::of(const NodeMemory& memory, std::size_t place) const {
  constexpr std::uint64_t line_bytes = 64;
  return reinterpret_cast<RmaAttachedTable*>(memory.at(begin + place * lines * line_bytes));
}

void publish_attached(RmaAttachedTable& table, std::size_t lines,
                      std::span<const Win::Attached> attached, std::uint64_t heap) noexcept {
  const std::uint32_t version = table.version.load(std::memory_order_relaxed);
  table.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  table.heap.store(heap, std::memory_order_relaxed);
  table.count.store(static_cast<std::uint32_t>(attached.size()), std::memory_order_relaxed);
  const std::size_t fitting = std::min(attached.size(), RmaAttachedTable::entries_in(lines));
  for (std::size_t i = 0; i < fitting; ++i) {
    RmaAttachedTable::Entry& entry = table.entries()[i];
    entry.address.store(attached[i].address, std::memory_order_relaxed);
    entry.bytes.store(attached[i].bytes, std::memory_order_relaxed);
  }
  table.version.store(version + 2, std::memory_order_release);
}

bool is_published(RmaAttachedTable& table, std::size_t lines, std::uint64_t address,
                  std::uint64_t bytes) noexcept {
  const std::uint32_t version = table.version.load(std::memory_order_acquire);
  if (version % 2 != 0) return false;
  const std::size_t known = std::min<std::size_t>(table.count.load(std::memory_order_relaxed),
                                                  RmaAttachedTable::entries_in(lines));
  bool found = false;
  for (std::size_t i = 0; i < known && !found; ++i) {
    const RmaAttachedTable::Entry& entry = table.entries()[i];
    const std::uint64_t begin = entry.address.load(std::memory_order_relaxed);
    const std::uint64_t length = entry.bytes.load(std::memory_order_relaxed);
    found = address >= begin && address - begin <= length && bytes <= length - (address - begin);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return found && table.version.load(std::memory_order_relaxed) == version;
}

}  // namespace fulmar::mpi
