// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/slot_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "base/sanitizer.h"

namespace fulmar::base {
namespace {

constexpr std::size_t grow_step_bytes = std::size_t{64} << 10;
constexpr std::size_t smallest_reserve_bytes = std::size_t{1} << 20;

/// Address space without memory behind it; smaller if the process is not allowed that much.
void* reserve(std::size_t& bytes) noexcept {
  for (; bytes >= smallest_reserve_bytes; bytes /= 4) {
    void* range =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) return range;
  }
  bytes = 0;
  return nullptr;
}

}  // namespace

SlotArena::SlotArena(std::size_t object_bytes, std::size_t max_objects,
                     std::uint32_t quarantine) noexcept
    : stride_(std::bit_ceil(sizeof(Slot) + object_bytes)), quarantine_(quarantine) {
  offset_mask_ = (stride_ - 1) & ~generation_mask;
  reserved_bytes_ = std::max(stride_ * max_objects, smallest_reserve_bytes);
  reserved_bytes_ = (reserved_bytes_ + grow_step_bytes - 1) & ~(grow_step_bytes - 1);
  base_ = reinterpret_cast<std::uintptr_t>(reserve(reserved_bytes_));
}

SlotArena::~SlotArena() {
  if (base_ == 0) return;
  for (std::size_t at = 0; at < usable_bytes_; at += grow_step_bytes) {
    forget_root_region(reinterpret_cast<void*>(base_ + at), grow_step_bytes);
  }
  ::munmap(reinterpret_cast<void*>(base_), reserved_bytes_);
}

bool SlotArena::grow() noexcept {
  if (usable_bytes_ + grow_step_bytes > reserved_bytes_) return false;
  void* next = reinterpret_cast<void*>(base_ + usable_bytes_);
  if (::mprotect(next, grow_step_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  note_root_region(next, grow_step_bytes);
  usable_bytes_ += grow_step_bytes;
  return true;
}

/// Where too few slots are free: a fresh one, or, if there is none, one that was freed lately.
void* SlotArena::allocate_slow() noexcept {
  Slot* slot = nullptr;
  const bool has_fresh = used_bytes() + stride_ <= usable_bytes_ || grow();
  if (has_fresh) {
    slot = reinterpret_cast<Slot*>(base_ + used_bytes());
    slot->generation = 0;
    used_bytes_.store(used_bytes() + stride_, std::memory_order_relaxed);
  } else if (free_count_ > 0) {
    slot = first_free_;
    first_free_ = slot->next_free;
    --free_count_;
    slot->generation = (slot->generation + 1) & generation_mask;
  } else {
    return nullptr;
  }
  slot->live_key = slot->generation;
  ++live_;
  return slot + 1;
}

}  // namespace fulmar::base
