// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/slot_arena.h"

#include <algorithm>
#include <bit>

#include "base/memory/address_space.h"
#include "base/sanitizer.h"

namespace fulmar::base {
namespace {

/// Memory is made usable in steps of this size; every chunk is a multiple of it, and it is a
/// multiple of every slot.
constexpr std::size_t step_bytes = SlotArena::smallest_chunk_bytes;

constexpr std::size_t whole_steps(std::size_t bytes) noexcept {
  return (bytes + step_bytes - 1) / step_bytes * step_bytes;
}

/// Address space without memory behind it: `bytes`, or less where the process is not allowed that
/// much. 0 if not even one step is left.
std::uintptr_t reserve(std::size_t& bytes) noexcept {
  for (; bytes >= step_bytes; bytes = bytes / 2 / step_bytes * step_bytes) {
    void* range = address_space::reserve(bytes);
    if (range != nullptr) return reinterpret_cast<std::uintptr_t>(range);
  }
  bytes = 0;
  return 0;
}

}  // namespace

SlotArena::SlotArena(std::size_t object_bytes, std::size_t max_objects,
                     std::uint32_t quarantine) noexcept
    : stride_(std::bit_ceil(sizeof(Slot) + object_bytes)), quarantine_(quarantine) {
  offset_mask_ = (stride_ - 1) & ~generation_mask;
  most_bytes_ = whole_steps(stride_ * max_objects);
  Chunk& first = chunks_[0];
  first.reserved_bytes = std::min(first_chunk_bytes, most_bytes_);
  first.base = reserve(first.reserved_bytes);
}

SlotArena::~SlotArena() {
  for (std::uint32_t i = 0; i < chunk_count(); ++i) {
    const Chunk& chunk = chunks_[i];
    if (chunk.base == 0) continue;
    for (std::size_t at = 0; at < chunk.usable_bytes; at += step_bytes) {
      forget_root_region(reinterpret_cast<void*>(chunk.base + at), step_bytes);
    }
    address_space::release(reinterpret_cast<void*>(chunk.base), chunk.reserved_bytes);
  }
}

void* SlotArena::find_in_later(std::uintptr_t handle) const noexcept {
  // The last chunk has half of all slots, the one before it a quarter, and so on.
  for (std::uint32_t i = chunk_count() - 1; i > 0; --i) {
    const std::uintptr_t offset = handle - chunks_[i].base;
    if (offset >= chunks_[i].used_bytes()) continue;
    return lives_at(handle, offset) ? object_of(handle) : nullptr;
  }
  return nullptr;
}

std::int64_t SlotArena::number_of(std::uintptr_t handle) const noexcept {
  for (std::uint32_t i = 0; i < chunk_count(); ++i) {
    const std::uintptr_t offset = handle - chunks_[i].base;
    if (offset >= chunks_[i].used_bytes()) continue;
    if ((offset & offset_mask_) != 0) return -1;
    return static_cast<std::int64_t>((chunks_[i].bytes_before + offset) / stride_ *
                                         (generation_mask + 1) +
                                     (offset & generation_mask));
  }
  return -1;
}

std::uintptr_t SlotArena::handle_of_number(std::int64_t number) const noexcept {
  const auto wanted = static_cast<std::uintptr_t>(number);
  const std::uintptr_t place = wanted / (generation_mask + 1) * stride_;
  for (std::uint32_t i = 0; i < chunk_count(); ++i) {
    const std::uintptr_t offset = place - chunks_[i].bytes_before;
    if (offset < chunks_[i].used_bytes()) {
      return chunks_[i].base + (offset | (wanted & generation_mask));
    }
  }
  return 0;
}

std::size_t SlotArena::reserved_bytes() const noexcept {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < chunk_count(); ++i) bytes += chunks_[i].reserved_bytes;
  return bytes;
}

bool SlotArena::make_usable(Chunk& chunk) const noexcept {
  if (chunk.usable_bytes == chunk.reserved_bytes) return false;
  void* next = reinterpret_cast<void*>(chunk.base + chunk.usable_bytes);
  if (!address_space::make_usable(next, step_bytes)) return false;
  note_root_region(next, step_bytes);
  chunk.usable_bytes += step_bytes;
  return true;
}

/// A further chunk, as large as all others together. It is filled in before its existence is
/// published, for threads that look a handle up without the lock.
bool SlotArena::add_chunk() noexcept {
  const std::uint32_t count = chunk_count();
  const std::size_t taken = used_bytes();
  if (count == most_chunks || taken >= most_bytes_) return false;
  Chunk& chunk = chunks_[count];
  chunk.reserved_bytes =
      std::min(std::max(std::bit_floor(taken), first_chunk_bytes), most_bytes_ - taken);
  chunk.base = reserve(chunk.reserved_bytes);
  if (chunk.base == 0) return false;
  chunk.bytes_before = taken;
  chunk_count_.store(count + 1, std::memory_order_release);
  return true;
}

/// A slot that was never used; nullptr when there is no more memory, or there are too many.
SlotArena::Slot* SlotArena::fresh_slot() noexcept {
  Chunk* chunk = &chunks_[chunk_count() - 1];
  if (chunk->used_bytes() == chunk->reserved_bytes) {
    if (!add_chunk()) return nullptr;
    chunk = &chunks_[chunk_count() - 1];
  }
  const std::uintptr_t used = chunk->used_bytes();
  if (used == chunk->usable_bytes && !make_usable(*chunk)) return nullptr;
  auto* slot = reinterpret_cast<Slot*>(chunk->base + used);
  slot->generation = 0;
  slot->live_key = 0;
  chunk->used.store(used + stride_, std::memory_order_relaxed);
  return slot;
}

/// Where too few slots are free: a fresh one, or, if there is none, one that was freed lately.
void* SlotArena::allocate_slow() noexcept {
  Slot* slot = fresh_slot();
  if (slot == nullptr) {
    if (free_count_ == 0) return nullptr;
    slot = first_free_;
    first_free_ = slot->next_free;
    --free_count_;
    slot->live_key = slot->generation = (slot->generation + 1) & generation_mask;
  }
  ++live_;
  return slot + 1;
}

}  // namespace fulmar::base
