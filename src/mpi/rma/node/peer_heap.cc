// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/peer_heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

namespace fulmar::mpi {
namespace {

using wire::RmaHeapTable;

struct Found {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The region with these bytes, if the table was not changed meanwhile.
std::optional<Found> find_region(const RmaHeapTable& table, std::uint64_t address,
                                 std::uint64_t bytes) {
  const std::uint32_t version = table.version.load(std::memory_order_acquire);
  if (version % 2 != 0) return {};
  const std::size_t count = std::min<std::size_t>(table.count.load(std::memory_order_relaxed),
                                                  wire::most_rma_heap_regions);
  std::optional<Found> found;
  for (std::size_t i = 0; i < count && !found; ++i) {
    const RmaHeapTable::Region& entry = table.regions()[i];
    const Found each{entry.address.load(std::memory_order_relaxed),
                     entry.offset.load(std::memory_order_relaxed),
                     entry.bytes.load(std::memory_order_relaxed)};
    const bool holds = address >= each.address && address - each.address < each.bytes &&
                       bytes <= each.bytes - (address - each.address);
    if (holds) found = each;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (table.version.load(std::memory_order_relaxed) != version) return {};
  return found;
}

}  // namespace

HeapMapping::~HeapMapping() { (void)::munmap(here_.data(), here_.size()); }

std::unique_ptr<PeerHeap> PeerHeap::open(std::uint64_t name) {
  const wire::RmaHeapName parts = wire::RmaHeapName::from(name);
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%u/fd/%u", parts.process, parts.descriptor);
  return open(base::UniqueFd(::open(path.data(), O_RDWR | O_CLOEXEC)), name);
}

std::unique_ptr<PeerHeap> PeerHeap::open(base::UniqueFd file, std::uint64_t name) {
  struct stat facts{};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0 ||
      static_cast<std::uint64_t>(facts.st_size) < wire::rma_heap_table_bytes || facts.st_size < 0) {
    return nullptr;
  }
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return nullptr;
  void* memory = ::mmap(nullptr, wire::rma_heap_table_bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto& table = *static_cast<const RmaHeapTable*>(memory);
  std::unique_ptr<PeerHeap> heap(
      new PeerHeap(std::move(file), table, static_cast<std::uint64_t>(facts.st_size)));
  if (table.name.load(std::memory_order_acquire) != name) return nullptr;
  return heap;
}

PeerHeap::~PeerHeap() {
  (void)::munmap(const_cast<RmaHeapTable*>(&table_), wire::rma_heap_table_bytes);
}

std::shared_ptr<const HeapMapping> PeerHeap::find(std::uint64_t address,
                                                  std::uint64_t bytes) noexcept {
  const std::uint32_t removals = table_.removals.load(std::memory_order_acquire);
  if (removals != removals_) {
    mappings_.clear();
    removals_ = removals;
  }
  for (const auto& each : mappings_) {
    if (each->find(address, bytes) != nullptr) return each;
  }
  return map(address, bytes);
}

std::shared_ptr<const HeapMapping> PeerHeap::map(std::uint64_t address,
                                                 std::uint64_t bytes) noexcept {
  const std::optional<Found> found = find_region(table_, address, bytes);
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (!found || found->bytes % page_bytes != 0 || found->offset % page_bytes != 0 ||
      found->offset < wire::rma_heap_table_bytes || found->offset > file_bytes_ ||
      found->bytes > file_bytes_ - found->offset) {
    return nullptr;
  }
  void* memory = ::mmap(nullptr, found->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(),
                        static_cast<off_t>(found->offset));
  if (memory == MAP_FAILED) return nullptr;
  mappings_.push_back(std::make_shared<const HeapMapping>(
      found->address, std::span(static_cast<std::byte*>(memory), found->bytes)));
  return mappings_.back();
}

}  // namespace fulmar::mpi
