// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>

// Handles that are numbers in the other ABI are those of MPI_Comm_toint, which takes a lock. It gives each handle of an object
// that was ever made a number that stays as long as the process, and neighbours have neighbouring numbers: the objects of a kind lie
// in slots of equal size, of which each has 64 handles. So most are computed here, from what the library has said about others.

namespace fulmar::compat {

/// Handles whose numbers are known: number `first + i` is the handle `base + (i / 64 << shift) + i % 64`, for i below `count`.
/// Readers take no lock: `count` grows, and is written after the others. `shift` matters from the second slot on, and is written
/// ahead of that one.
class NumberRange {
 public:
  explicit constexpr NumberRange(std::uint32_t first) : first_(first) {}

  /// 0 where it is not known here.
  [[nodiscard]] std::uintptr_t handle_of(std::uint32_t number) const {
    const std::uint32_t count = count_.load(std::memory_order_acquire);
    const std::uint32_t place = number - first_;
    return place < count ? handle_at(place) : 0;
  }
  [[nodiscard]] std::uint32_t number_of(std::uintptr_t handle) const {
    const std::uint32_t slots = count_.load(std::memory_order_acquire) >> 6;
    const std::uintptr_t offset = handle - base_.load(std::memory_order_relaxed);
    const std::uint32_t shift = shift_.load(std::memory_order_relaxed);
    const std::uintptr_t slot = offset >> shift;
    const std::uintptr_t within = offset - (slot << shift);
    if (slot >= slots || within >= 64) return 0;
    return first_ + static_cast<std::uint32_t>(slot << 6 | within);
  }

  /// Takes in that the library has said that `number` is `handle`; `ask(number)` is what it says to others, 0 for none. Under a
  /// lock.
  template <class Ask>
  void learn(std::uint32_t number, std::uintptr_t handle, Ask ask) {
    const std::uint32_t place = number - first_;
    if (number < first_ || place >= most_numbers) return;
    if (count_.load(std::memory_order_relaxed) == 0) {
      const std::uintptr_t base = ask(first_);
      if (base == 0) return;
      base_.store(base, std::memory_order_relaxed);
    }
    if (place >= 64 && !learn_shift(ask(first_ + 64))) return;
    if (handle_at(place) != handle) return;  // in another part of memory
    count_.store(std::max(count_.load(std::memory_order_relaxed), (place | 63) + 1),
                 std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t most_numbers = 1U << 20;

  [[nodiscard]] std::uintptr_t handle_at(std::uint32_t place) const {
    return base_.load(std::memory_order_relaxed) +
           (static_cast<std::uintptr_t>(place >> 6) << shift_.load(std::memory_order_relaxed)) +
           (place & 63);
  }
  bool learn_shift(std::uintptr_t second) {
    const std::uintptr_t distance = second - base_.load(std::memory_order_relaxed);
    if (second == 0 || !std::has_single_bit(distance) || distance < 64) return false;
    shift_.store(static_cast<std::uint32_t>(std::countr_zero(distance)), std::memory_order_relaxed);
    return true;
  }

  std::uint32_t first_;
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> shift_{6};
  std::atomic<std::uintptr_t> base_{0};
};

/// The numbers of one kind of handle. Requests that were complete when they were made have numbers apart, from 1 << 30 on; other
/// kinds have no such numbers.
struct NumberRanges {
  NumberRange objects{4096};
  NumberRange done{1U << 30};

  [[nodiscard]] std::uintptr_t handle_of(std::uint32_t number) const {
    const std::uintptr_t handle = objects.handle_of(number);
    return handle != 0 ? handle : done.handle_of(number);
  }
  [[nodiscard]] std::uint32_t number_of(std::uintptr_t handle) const {
    const std::uint32_t number = objects.number_of(handle);
    return number != 0 ? number : done.number_of(handle);
  }
};

}  // namespace fulmar::compat
