// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/shared_heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace fulmar::mpi {
namespace {

using wire::RmaHeapTable;

/// The file has holes only, so its length costs nothing, and places in it need not be used twice.
constexpr std::uint64_t file_bytes = std::uint64_t{1} << 56;
constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

std::uint64_t rounded(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool limits_file_size() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

bool accounts_strictly() {
  const base::UniqueFd file(::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC));
  char mode = '0';
  return file.valid() && ::read(file.get(), &mode, 1) == 1 && mode == '2';
}

/// More than the whole machine has could be mapped, but not written.
bool is_beyond_machine(std::uint64_t bytes) {
  struct sysinfo machine{};
  if (::sysinfo(&machine) != 0) return false;
  return bytes / machine.mem_unit > std::uint64_t{machine.totalram} + machine.totalswap;
}

/// Multiples of 64: steps of 64 up to 512, then four lengths for each doubling.
std::size_t class_of(std::size_t bytes) {
  constexpr std::size_t least_step = 64;
  const std::size_t step = std::max(least_step, std::bit_ceil(bytes) / 8);
  return rounded(bytes, step);
}

/// Maps a part of the file at a multiple of `alignment`, above the size of a page.
void* map_aligned(int file, std::uint64_t bytes, std::uint64_t alignment, std::uint64_t offset) {
  void* room = ::mmap(nullptr, bytes + alignment, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  auto* const first = static_cast<std::byte*>(room);
  const std::uint64_t past = reinterpret_cast<std::uint64_t>(first) % alignment;
  const std::uint64_t before = past == 0 ? 0 : alignment - past;
  if (before != 0) (void)::munmap(first, before);
  if (before != alignment) (void)::munmap(first + before + bytes, alignment - before);
  void* memory = ::mmap(first + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                        static_cast<off_t>(offset));
  if (memory == MAP_FAILED) (void)::munmap(first + before, bytes);
  return memory;
}

}  // namespace

std::unique_ptr<SharedHeap> SharedHeap::open() {
  if (limits_file_size() || accounts_strictly()) return nullptr;
  base::UniqueFd file(::memfd_create("fulmar memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  using Name = wire::RmaHeapName;
  const auto process = static_cast<std::uint32_t>(::getpid());
  if (!file.valid() || !Name::fits(static_cast<std::uint64_t>(file.get()), Name::descriptor_bits) ||
      !Name::fits(process, Name::process_bits) ||
      ::ftruncate(file.get(), static_cast<off_t>(file_bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return nullptr;
  }
  std::uint32_t key = 0;
  if (::getrandom(&key, sizeof key, 0) != sizeof key) return nullptr;
  void* table = ::mmap(nullptr, wire::rma_heap_table_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                       file.get(), 0);
  if (table == MAP_FAILED) return nullptr;
  const Name name{process, static_cast<std::uint32_t>(file.get()), key >> (32 - Name::key_bits)};
  auto* const header = static_cast<RmaHeapTable*>(table);
  header->name.store(name.word(), std::memory_order_release);
  return std::unique_ptr<SharedHeap>(new SharedHeap(std::move(file), *header, name.word()));
}

SharedHeap::~SharedHeap() {
  for (const auto& [begin, region] : regions_) (void)::munmap(region.begin, region.bytes);
  (void)::munmap(&table_, wire::rma_heap_table_bytes);
}

void* SharedHeap::allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > file_bytes) return nullptr;
  if (bytes > most_slab_block_bytes || alignment > most_slab_block_bytes) {
    return allocate_alone(bytes, alignment);
  }
  // Slabs begin at multiples of their length, so blocks of a power of two do at multiples of theirs.
  constexpr std::size_t least_alignment = 64;
  return allocate_in_slab(alignment <= least_alignment ? class_of(bytes)
                                                       : std::bit_ceil(std::max(bytes, alignment)));
}

void* SharedHeap::allocate_in_slab(std::size_t bytes) noexcept {
  std::vector<std::byte*>& free_blocks = free_blocks_[bytes];
  if (free_blocks.empty()) {
    Region* const slab = map_region(slab_bytes, slab_bytes);
    if (slab == nullptr) return nullptr;
    const std::size_t blocks = slab_bytes / bytes;
    slab->block_bytes = bytes;
    slab->live_blocks.resize(blocks);
    free_blocks.reserve(blocks);
    for (std::size_t i = blocks; i-- > 0;) free_blocks.push_back(slab->begin + i * bytes);
  }
  std::byte* const block = free_blocks.back();
  free_blocks.pop_back();
  Region& slab = regions_.at(reinterpret_cast<std::uintptr_t>(block) / slab_bytes * slab_bytes);
  slab.live_blocks[static_cast<std::size_t>(block - slab.begin) / bytes] = true;
  return block;
}

void* SharedHeap::allocate_alone(std::size_t bytes, std::size_t alignment) noexcept {
  const std::uint64_t whole = rounded(bytes, page_bytes());
  if (is_beyond_machine(whole)) return nullptr;
  Region* region = take_kept(whole, alignment);
  if (region == nullptr) {
    // Huge pages need the same place in a page of that length in memory and in the file.
    region = map_region(whole, whole >= huge_page_bytes
                                   ? std::max<std::uint64_t>(alignment, huge_page_bytes)
                                   : alignment);
  }
  if (region == nullptr) return nullptr;
  region->live = true;
  return region->begin;
}

/// A freed region of this length.
SharedHeap::Region* SharedHeap::take_kept(std::uint64_t bytes, std::size_t alignment) noexcept {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](std::uintptr_t begin) {
    return regions_.at(begin).bytes == bytes && begin % alignment == 0;
  });
  if (found == kept_.rend()) return nullptr;
  Region& region = regions_.at(*found);
  kept_.erase(std::next(found).base());
  kept_bytes_ -= bytes;
  return &region;
}

void SharedHeap::make_private() noexcept {
  if (!file_.valid()) return;
  const auto replace = [](void* begin, std::size_t bytes) {
    void* const copy =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) return;
    std::memcpy(copy, begin, bytes);
    if (::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED) {
      (void)::munmap(copy, bytes);
    }
  };
  while (!kept_.empty()) {
    unmap(kept_.back());
    kept_.pop_back();
  }
  kept_bytes_ = 0;
  for (const auto& [begin, region] : regions_) replace(region.begin, region.bytes);
  replace(&table_, wire::rma_heap_table_bytes);
  name_ = 0;
  file_.reset();
}

SharedHeap::Region* SharedHeap::map_region(std::uint64_t bytes, std::size_t alignment) noexcept {
  const std::uint64_t unit = std::max<std::uint64_t>(alignment, page_bytes());
  const std::uint64_t offset = rounded(end_, unit);
  if (entries_.size() == wire::most_rma_heap_regions || bytes > file_bytes - offset) return nullptr;
  void* memory = unit > page_bytes() ? map_aligned(file_.get(), bytes, unit, offset)
                                     : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                              file_.get(), static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  if (bytes >= huge_page_bytes) (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  end_ = offset + bytes;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  Region region{static_cast<std::byte*>(memory), bytes, offset, entries_.size()};
  Region& kept = regions_.emplace(begin, std::move(region)).first->second;
  entries_.push_back(begin);
  publish(kept);
  return &kept;
}

SharedHeap::Freed SharedHeap::free(void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return Freed::not_here;
  Region& region = std::prev(after)->second;
  auto* const begin = static_cast<std::byte*>(block);
  if (begin >= region.begin + region.bytes) return Freed::not_here;
  if (region.block_bytes != 0) return free_in_slab(region, begin);
  if (begin != region.begin || !region.live) return Freed::bad;
  keep(region);
  return Freed::yes;
}

SharedHeap::Freed SharedHeap::free_in_slab(Region& slab, std::byte* block) noexcept {
  const auto at = static_cast<std::size_t>(block - slab.begin);
  const std::size_t index = at / slab.block_bytes;
  if (at % slab.block_bytes != 0 || index >= slab.live_blocks.size() || !slab.live_blocks[index]) {
    return Freed::bad;
  }
  slab.live_blocks[index] = false;
  free_blocks_[slab.block_bytes].push_back(block);
  return Freed::yes;
}

/// A region was freed: it stays mapped if there is room for it.
void SharedHeap::keep(Region& region) noexcept {
  region.live = false;
  const auto begin = reinterpret_cast<std::uintptr_t>(region.begin);
  if (region.bytes > most_kept_bytes) return unmap(begin);
  kept_.push_back(begin);
  kept_bytes_ += region.bytes;
  while (kept_bytes_ > most_kept_bytes || kept_.size() > most_kept_regions) {
    const std::uintptr_t oldest = kept_.front();
    kept_.erase(kept_.begin());
    kept_bytes_ -= regions_.at(oldest).bytes;
    unmap(oldest);
  }
}

/// Gives a region back to the system.
void SharedHeap::unmap(std::uintptr_t begin) noexcept {
  const auto found = regions_.find(begin);
  const Region& region = found->second;
  withdraw(region);
  (void)::munmap(region.begin, region.bytes);
  (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(region.offset), static_cast<off_t>(region.bytes));
  regions_.erase(found);
}

void SharedHeap::publish(const Region& region) noexcept {
  const std::uint32_t version = table_.version.load(std::memory_order_relaxed);
  table_.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  RmaHeapTable::Region& entry = table_.regions()[region.entry];
  entry.address.store(reinterpret_cast<std::uint64_t>(region.begin), std::memory_order_relaxed);
  entry.offset.store(region.offset, std::memory_order_relaxed);
  entry.bytes.store(region.bytes, std::memory_order_relaxed);
  table_.count.store(static_cast<std::uint32_t>(entries_.size()), std::memory_order_relaxed);
  table_.version.store(version + 2, std::memory_order_release);
}

/// The last entry takes the place of the one that ends.
void SharedHeap::withdraw(const Region& region) noexcept {
  const std::size_t gap = region.entry;
  entries_[gap] = entries_.back();
  entries_.pop_back();
  table_.removals.fetch_add(1, std::memory_order_release);
  if (gap < entries_.size()) {
    Region& moved = regions_.at(entries_[gap]);
    moved.entry = gap;
    return publish(moved);
  }
  const std::uint32_t version = table_.version.load(std::memory_order_relaxed);
  table_.version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  table_.count.store(static_cast<std::uint32_t>(entries_.size()), std::memory_order_relaxed);
  table_.version.store(version + 2, std::memory_order_release);
}

}  // namespace fulmar::mpi
