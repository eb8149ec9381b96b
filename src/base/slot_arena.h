// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fulmar::base {

/// Memory for objects of one kind that users name by handles, with a check that finds stale
/// handles.
///
/// One address range is reserved for all slots and made usable piece by piece, so a handle is
/// tested with a subtraction and two compares. Slots are 64-byte aligned; the low six bits of a
/// handle hold a generation that changes each time the slot is used again, and a freed slot waits
/// behind `quarantine` others before that. A stale handle is therefore recognised until its slot
/// was reused 64 times.
///
/// Holds raw storage: the caller constructs and destroys objects. The caller holds the lock of the
/// library; but `find` may be called without it for a handle that its thread knows to be live.
class SlotArena {
 public:
  /// `object_bytes` is the size of one object, `max_objects` a limit that costs only address space.
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
    const std::uintptr_t offset = handle - base_;
    if (offset >= used_bytes()) return nullptr;
    if ((offset & offset_mask_) != 0) return nullptr;
    auto* slot = reinterpret_cast<Slot*>(handle & ~generation_mask);
    if (slot->live_key != (offset & generation_mask)) return nullptr;
    return slot + 1;
  }
  /// A handle of this arena, live or not, as a number below 64 times the number of objects; -1 for
  /// anything else. And back: 0 for a number that no handle has.
  [[nodiscard]] std::int64_t number_of(std::uintptr_t handle) const noexcept {
    const std::uintptr_t offset = handle - base_;
    if (offset >= used_bytes() || (offset & offset_mask_) != 0) return -1;
    return static_cast<std::int64_t>((offset / stride_) * (generation_mask + 1) +
                                     (offset & generation_mask));
  }
  [[nodiscard]] std::uintptr_t handle_of_number(std::int64_t number) const noexcept {
    const auto wanted = static_cast<std::uintptr_t>(number);
    const std::uintptr_t offset = wanted / (generation_mask + 1) * stride_;
    return offset >= used_bytes() ? 0 : base_ + (offset | (wanted & generation_mask));
  }
  /// From now on `find` does not know the object any more; it stays usable until `free`.
  void retire(void* object) noexcept { slot_of(object)->live_key = dead; }
  /// Undoes `retire`: the same handle finds the object again. Not after `free`.
  void revive(void* object) noexcept { slot_of(object)->live_key = slot_of(object)->generation; }
  /// Gives the storage back; the object's destructor has run.
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
  /// Whether `test(void* object)` is true of an object that `find` knows. Looks at every slot that
  /// was ever used.
  template <class Test>
  [[nodiscard]] bool any(Test&& test) const noexcept {
    for (std::uintptr_t offset = 0; offset < used_bytes(); offset += stride_) {
      auto* slot = reinterpret_cast<Slot*>(base_ + offset);
      if (slot->live_key != dead && test(static_cast<void*>(slot + 1))) return true;
    }
    return false;
  }
  /// Memory behind all slots that were ever used.
  [[nodiscard]] std::uintptr_t used_bytes() const noexcept {
    return used_bytes_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uintptr_t generation_mask = 63;
  static constexpr std::uint32_t dead = 0xffffffff;

  struct alignas(64) Slot {
    std::uint32_t live_key;
    std::uint32_t generation;
    Slot* next_free;
  };

  static Slot* slot_of(const void* object) noexcept {
    return static_cast<Slot*>(const_cast<void*>(object)) - 1;
  }
  void* allocate_slow() noexcept;
  bool grow() noexcept;

  std::uintptr_t base_ = 0;
  std::atomic<std::uintptr_t> used_bytes_{0};
  std::uintptr_t offset_mask_ = 0;
  std::size_t stride_ = 0;
  std::size_t reserved_bytes_ = 0;
  std::size_t usable_bytes_ = 0;
  Slot* first_free_ = nullptr;
  Slot* last_free_ = nullptr;
  std::uint32_t free_count_ = 0;
  std::uint32_t quarantine_ = 0;
  std::size_t live_ = 0;
};

}  // namespace fulmar::base
