// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fulmar::base {

/// Gives objects numbers (*tokens*) that may leave this process or be kept by something that is not
/// trusted, and finds the object again. A token holds a slot and the slot's generation, so one that
/// is stale, or was made up, finds nothing. Owns no object. A token is never 0.
template <class T>
class SlotMap {
 public:
  [[nodiscard]] std::uint64_t add(T& object) {
    std::uint32_t index = first_free_;
    if (index == none) {
      index = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({});
    } else {
      first_free_ = slots_[index].next_free;
    }
    slots_[index].object = &object;
    ++live_;
    return std::uint64_t{slots_[index].generation} << 32 | (index + 1);
  }
  /// The object of a live token, or null.
  [[nodiscard]] T* find(std::uint64_t token) const noexcept {
    const std::uint64_t index = (token & 0xffffffff) - 1;
    if (index >= slots_.size() || slots_[index].generation != token >> 32) return nullptr;
    return slots_[index].object;
  }
  /// Of a live token; it finds nothing from now on.
  void remove(std::uint64_t token) noexcept {
    const auto index = static_cast<std::uint32_t>((token & 0xffffffff) - 1);
    slots_[index].object = nullptr;
    ++slots_[index].generation;
    slots_[index].next_free = first_free_;
    first_free_ = index;
    --live_;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls f(object) for each live token; f may add and remove. Whether f is called for an object
  /// that is added meanwhile is not specified.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      if (T* object = slots_[index].object; object != nullptr) f(*object);
    }
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Slot {
    T* object = nullptr;
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
  };
  std::vector<Slot> slots_;
  std::uint32_t first_free_ = none;
  std::size_t live_ = 0;
};

}  // namespace fulmar::base
