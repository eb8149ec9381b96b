// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::base {

/// Memory for objects of one kind that users refer to by handles, with detection of stale
/// handles.
///
/// Slots are in chunks of address space. The first one is small and, in most programs, the only
/// one; a handle in it is tested with a subtraction and two compares. Each further chunk is as
/// large as all before it together, so there are few, and at most half of the address space of an
/// arena is unused. Where the process is not allowed that much (RLIMIT_AS), a chunk is made
/// smaller.
///
/// Slots are 64-byte aligned; the low six bits of a handle hold a generation that changes each time
/// the slot is used again, and a freed slot waits behind `quarantine` others before that. A stale
/// handle is therefore recognised until its slot was reused 64 times.
///
/// Holds raw storage: the caller constructs and destroys objects. The caller holds the lock of the
/// library; but `find` may be called without it for a handle that its thread knows to be live.
class SlotArena {
 public:
  /// Address space of the first chunk, and the least that an arena grows by.
  static constexpr std::size_t first_chunk_bytes = std::size_t{1} << 20;
  static constexpr std::size_t smallest_chunk_bytes = std::size_t{64} << 10;

  /// `object_bytes` is the size of one object, at most 16 KiB; there are at most `max_objects`, a
  /// limit that costs nothing.
  SlotArena(std::size_t object_bytes, std::size_t max_objects, std::uint32_t quarantine) noexcept;
  ~SlotArena();
  SlotArena(const SlotArena&) = delete;
  SlotArena& operator=(const SlotArena&) = delete;

  /// Storage of a new object, aligned to 64 bytes, or nullptr when memory or address space is used
  /// up.
  [[nodiscard]] void* allocate() noexcept {
    if (free_count_ <= quarantine_) [[unlikely]]
      return allocate_slow();
    Slot* slot = first_free_;
    first_free_ = slot->next_free;
    --free_count_;
    ++live_;
    slot->live_key = slot->generation = (slot->generation + 1) & generation_mask;
    return slot + 1;
  }
  /// The handle of a live object. Never below 4096.
  [[nodiscard]] std::uintptr_t handle_of(const void* object) const noexcept {
    return reinterpret_cast<std::uintptr_t>(slot_of(object)) | slot_of(object)->generation;
  }
  /// The object of a live handle; nullptr for anything else, whatever its value.
  [[nodiscard]] void* find(std::uintptr_t handle) const noexcept {
    return lives_in_first(handle) ? object_of(handle) : find_in_later(handle);
  }
  /// `find` in its parts: whether a handle is a live one of the first chunk, which has most; the
  /// object of such a handle; and the object in any other chunk.
  [[nodiscard]] bool lives_in_first(std::uintptr_t handle) const noexcept {
    const std::uintptr_t offset = handle - chunks_[0].base;
    return offset < chunks_[0].used_bytes() && lives_at(handle, offset);
  }
  [[nodiscard]] static void* object_of(std::uintptr_t handle) noexcept {
    return slot_at(handle) + 1;
  }
  [[nodiscard, gnu::cold]] void* find_in_later(std::uintptr_t handle) const noexcept;
  /// A handle of this arena, live or not, as a number below 64 times the number of objects; -1 for
  /// anything else. And back: 0 for a number that no handle has.
  [[nodiscard]] std::int64_t number_of(std::uintptr_t handle) const noexcept;
  [[nodiscard]] std::uintptr_t handle_of_number(std::int64_t number) const noexcept;
  /// From now on `find` does not return the object any more; it stays usable until `free`.
  void retire(void* object) noexcept { slot_of(object)->live_key = dead; }
  /// Undoes `retire`: the same handle finds the object again. Not after `free`.
  void revive(void* object) noexcept { slot_of(object)->live_key = slot_of(object)->generation; }
  /// Releases the storage; the object's destructor has run.
  void free(void* object) noexcept {
    Slot* slot = slot_of(object);
    slot->live_key = dead;
    slot->next_free = nullptr;
    (free_count_ == 0 ? first_free_ : last_free_->next_free) = slot;
    last_free_ = slot;
    ++free_count_;
    --live_;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Whether there is an object that `find` returns at this address, which may be any.
  [[nodiscard]] bool holds(const void* object) const noexcept {
    const std::uintptr_t slot = reinterpret_cast<std::uintptr_t>(object) - sizeof(Slot);
    for (std::uint32_t i = 0; i < chunk_count(); ++i) {
      const std::uintptr_t offset = slot - chunks_[i].base;
      if (offset >= chunks_[i].used_bytes()) continue;
      return offset % stride_ == 0 && reinterpret_cast<const Slot*>(slot)->live_key != dead;
    }
    return false;
  }
  /// Whether `test(void* object)` is true for any live object. Visits every slot that
  /// was ever used.
  template <class Test>
  [[nodiscard]] bool any(Test&& test) const noexcept {
    for (std::uint32_t i = 0; i < chunk_count(); ++i) {
      for (std::uintptr_t offset = 0; offset < chunks_[i].used_bytes(); offset += stride_) {
        auto* slot = reinterpret_cast<Slot*>(chunks_[i].base + offset);
        if (slot->live_key != dead && test(static_cast<void*>(slot + 1))) return true;
      }
    }
    return false;
  }
  /// Memory behind all slots that were ever used.
  [[nodiscard]] std::uintptr_t used_bytes() const noexcept {
    const Chunk& last = chunks_[chunk_count() - 1];
    return last.bytes_before + last.used_bytes();
  }
  /// Address space that the arena takes.
  [[nodiscard]] std::size_t reserved_bytes() const noexcept;

 private:
  static constexpr std::uintptr_t generation_mask = 63;
  static constexpr std::uint32_t dead = 0xffffffff;

  struct alignas(64) Slot {
    std::uint32_t live_key;
    std::uint32_t generation;
    Slot* next_free;
  };

  /// One range of address space; the memory behind it is made usable in small steps.
  struct Chunk {
    std::uintptr_t base = 0;
    std::uintptr_t bytes_before = 0;  ///< of the slots in all chunks before
    std::size_t reserved_bytes = 0;
    std::size_t usable_bytes = 0;
    std::atomic<std::uintptr_t> used{0};

    [[nodiscard]] std::uintptr_t used_bytes() const noexcept {
      return used.load(std::memory_order_relaxed);
    }
  };
  /// Enough for every arena whose chunks double, and for one that has to grow in small steps near
  /// the limit of the process.
  static constexpr std::uint32_t most_chunks = 32;

  static Slot* slot_of(const void* object) noexcept {
    return static_cast<Slot*>(const_cast<void*>(object)) - 1;
  }
  static Slot* slot_at(std::uintptr_t handle) noexcept {
    return reinterpret_cast<Slot*>(handle & ~generation_mask);
  }
  /// `offset` is that of the handle in its chunk, and below what is used.
  [[nodiscard]] bool lives_at(std::uintptr_t handle, std::uintptr_t offset) const noexcept {
    return (offset & offset_mask_) == 0 && slot_at(handle)->live_key == (offset & generation_mask);
  }
  [[nodiscard]] std::uint32_t chunk_count() const noexcept {
    return chunk_count_.load(std::memory_order_acquire);
  }
  void* allocate_slow() noexcept;
  Slot* fresh_slot() noexcept;
  bool make_usable(Chunk& chunk) const noexcept;
  bool add_chunk() noexcept;

  std::array<Chunk, most_chunks> chunks_;
  std::atomic<std::uint32_t> chunk_count_{1};
  std::uintptr_t offset_mask_ = 0;
  std::size_t stride_ = 0;
  std::size_t most_bytes_ = 0;
  Slot* first_free_ = nullptr;
  Slot* last_free_ = nullptr;
  std::uint32_t free_count_ = 0;
  std::uint32_t quarantine_ = 0;
  std::size_t live_ = 0;
};

}  // namespace fulmar::base
