// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "rwapi/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "rwapi/rwapi.h"
#include "wire/packets.h"

namespace fulmar::rwapi {
namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t page_bytes = 4096;

constexpr std::uint64_t rounded(std::uint64_t bytes) noexcept {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::uint64_t seal_of(const interfaces::Port& port, std::uint32_t node,
                      const wire::RwapiSealed& sealed) noexcept {
  return port.seal(node, wire::bytes_of(sealed));
}

wire::RwapiSmallQueue* queues_of(std::byte* base) noexcept {
  return reinterpret_cast<wire::RwapiSmallQueue*>(base + wire::rwapi_front_bytes(0));
}

bool is_inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t block_bytes) noexcept {
  return offset <= block_bytes && bytes <= block_bytes - offset;
}

}  // namespace

std::optional<std::uint64_t> FreeRanges::take(std::uint64_t bytes) {
  const auto range =
      std::ranges::find_if(ranges_, [&](const auto& each) { return each.second >= bytes; });
  if (range == ranges_.end()) return std::nullopt;
  const std::uint64_t begin = range->first;
  const std::uint64_t rest = range->second - bytes;
  ranges_.erase(range);
  if (rest != 0) ranges_.emplace(begin + bytes, rest);
  return begin;
}

void FreeRanges::give_back(std::uint64_t begin, std::uint64_t bytes) {
  auto after = ranges_.lower_bound(begin);
  if (after != ranges_.end() && begin + bytes == after->first) {
    bytes += after->second;
    after = ranges_.erase(after);
  }
  if (after != ranges_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  ranges_.emplace(begin, bytes);
}

Arena::Arena(interfaces::Port& port, interfaces::Segment& segment, std::uint32_t queues)
    : port_(port),
      shared_(*reinterpret_cast<wire::RwapiArena*>(segment.base)),
      base_(segment.base),
      ranges_(wire::rwapi_front_bytes(queues),
              (segment.bytes - wire::rwapi_front_bytes(queues)) / alignment * alignment),
      blocks_(wire::rwapi_blocks) {
  shared_.bytes = segment.bytes;
  shared_.queues = queues;
  shared_.magic = wire::rwapi_arena_magic;
  free_blocks_.resize(wire::rwapi_blocks);
  for (std::uint32_t i = 0; i < wire::rwapi_blocks; ++i) {
    free_blocks_[i] = wire::rwapi_blocks - 1 - i;
  }
}

Arena::~Arena() {
  for (const auto& [begin, block] : by_begin_) {
    port_.disown({base_ + begin, blocks_[block].bytes});
  }
}

wire::RwapiSmallQueue& Arena::queue(std::uint32_t n) noexcept { return queues_of(base_)[n]; }

std::optional<Arena::Allocated> Arena::allocate(std::size_t bytes) {
  reclaim();
  if (free_blocks_.empty() || bytes > shared_.bytes) return std::nullopt;
  const auto begin = ranges_.take(rounded(bytes));
  if (!begin) return std::nullopt;
  const std::uint32_t number = free_blocks_.back();
  free_blocks_.pop_back();
  Block& block = blocks_[number];
  block.begin = *begin;
  block.bytes = bytes;
  block.generation = block.generation == UINT32_MAX ? 1 : block.generation + 1;
  block.live = true;
  by_begin_[*begin] = number;
  std::byte* const address = base_ + *begin;
  wire::RwapiBlock& shared = shared_.blocks[number];
  shared.begin = block.begin;
  shared.bytes = block.bytes;
  shared.generation.store(block.generation, std::memory_order_release);
  port_.own({address, bytes});
  const wire::RwapiSealed sealed{number, block.generation, block.begin, block.bytes};
  return Allocated{address, number, block.generation, seal_of(port_, port_.rank(), sealed)};
}

bool Arena::free(const void* address) {
  const auto distance =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
  const auto place = by_begin_.find(distance);
  if (place == by_begin_.end()) return false;
  const std::uint32_t number = place->second;
  by_begin_.erase(place);
  Block& block = blocks_[number];
  block.live = false;
  block.leaving = true;
  // Before the targets of the others are looked at; see wire::RwapiArena::target.
  shared_.blocks[number].generation.store(0, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  port_.disown({base_ + block.begin, block.bytes});
  leaving_.push_back(number);
  reclaim();
  return true;
}

Arena::Place Arena::find(const wire::RwapiWrite& address, std::uint64_t bytes) const noexcept {
  if (address.block >= blocks_.size()) return {RWAPI_ERR_ADDRESS, nullptr};
  const Block& block = blocks_[address.block];
  const wire::RwapiSealed sealed{address.block, block.generation, block.begin, block.bytes};
  if (!block.live || address.generation != block.generation ||
      address.seal != seal_of(port_, port_.rank(), sealed)) {
    return {RWAPI_ERR_ADDRESS, nullptr};
  }
  if (!is_inside(address.offset, bytes, block.bytes)) return {RWAPI_ERR_RANGE, nullptr};
  return {RWAPI_OK, base_ + block.begin + address.offset};
}

void Arena::end_use(std::uint32_t block) noexcept {
  if (--blocks_[block].uses == 0 && blocks_[block].leaving) reclaim();
}

void Arena::set_target(std::uint64_t target) noexcept {
  if (target == 0) {
    shared_.target.store(0, std::memory_order_release);
    return;
  }
  shared_.target.store(target, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

bool Arena::is_written_to(std::uint32_t block) const noexcept {
  const std::uint64_t target = wire::rwapi_target(port_.rank(), block);
  return std::ranges::any_of(neighbours_, [&](const wire::RwapiArena* each) {
    return each->target.load(std::memory_order_seq_cst) == target;
  });
}

/// Zeros for the next owner; whole pages go back to the system.
void Arena::clear(std::uint64_t begin, std::uint64_t bytes) noexcept {
  const std::uint64_t first_page = (begin + page_bytes - 1) / page_bytes * page_bytes;
  const std::uint64_t last_page = (begin + bytes) / page_bytes * page_bytes;
  if (first_page >= last_page ||
      ::madvise(base_ + first_page, last_page - first_page, MADV_REMOVE) != 0) {
    std::memset(base_ + begin, 0, bytes);
    return;
  }
  std::memset(base_ + begin, 0, first_page - begin);
  std::memset(base_ + last_page, 0, begin + bytes - last_page);
}

/// Gives back the memory of blocks that nobody uses any more.
void Arena::reclaim() {
  std::erase_if(leaving_, [&](std::uint32_t number) {
    Block& block = blocks_[number];
    if (block.uses != 0 || is_written_to(number)) return false;
    const std::uint64_t bytes = rounded(block.bytes);
    clear(block.begin, bytes);
    ranges_.give_back(block.begin, bytes);
    block.leaving = false;
    // The one that was freed last is used last, so that old addresses stay old for long.
    free_blocks_.push_front(number);
    return true;
  });
}

std::optional<RemoteArena> RemoteArena::of(const interfaces::Segment& segment) noexcept {
  const std::size_t least = wire::rwapi_front_bytes(0) + Arena::least_block_bytes;
  if (segment.bytes < least) return std::nullopt;
  auto& shared = *reinterpret_cast<wire::RwapiArena*>(segment.base);
  const std::uint32_t queues = shared.queues;
  if (shared.magic != wire::rwapi_arena_magic || shared.bytes != segment.bytes ||
      queues > (segment.bytes - least) / sizeof(wire::RwapiSmallQueue)) {
    return std::nullopt;
  }
  return RemoteArena(shared, segment.base, segment.bytes, queues);
}

wire::RwapiSmallQueue* RemoteArena::queue(std::uint32_t n) const noexcept {
  return n < queues_ ? &queues_of(base_)[n] : nullptr;
}

Arena::Place RemoteArena::find(const interfaces::Port& port, std::uint32_t node,
                               const wire::RwapiWrite& address,
                               std::uint64_t bytes) const noexcept {
  if (address.block >= wire::rwapi_blocks || address.generation == 0) {
    return {RWAPI_ERR_ADDRESS, nullptr};
  }
  const wire::RwapiBlock& block = shared_->blocks[address.block];
  if (block.generation.load(std::memory_order_seq_cst) != address.generation) {
    return {RWAPI_ERR_ADDRESS, nullptr};
  }
  const wire::RwapiSealed sealed{address.block, address.generation, block.begin, block.bytes};
  // The owner's own table could be wrong: the seal tells, and the size of the mapping limits.
  if (address.seal != seal_of(port, node, sealed) ||
      sealed.begin < wire::rwapi_front_bytes(queues_) ||
      !is_inside(sealed.begin, sealed.bytes, bytes_)) {
    return {RWAPI_ERR_ADDRESS, nullptr};
  }
  if (!is_inside(address.offset, bytes, sealed.bytes)) return {RWAPI_ERR_RANGE, nullptr};
  return {RWAPI_OK, base_ + sealed.begin + address.offset};
}

}  // namespace fulmar::rwapi
