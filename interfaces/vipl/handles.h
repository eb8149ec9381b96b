// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace fulmar::vipl {

/// Of what kind a handle is: part of it, so that none is taken for one of another kind.
enum class Kind : std::uint32_t { nic = 1, ptag, region, vi, cq, connection };

/// The objects of one kind, and their handles: 32 bits, because handles of memory have no more. A handle that
/// is stale, or was made up, finds nothing, unless its place was used 2048 times since. Never 0.
template <class T, Kind kind>
class Handles {
 public:
  static constexpr std::size_t most = std::size_t{1} << 18;

  /// Sets the object's `handle`. Nullptr: there are too many.
  T* add(std::unique_ptr<T> object) {
    if (free_.empty()) {
      if (slots_.size() == most) return nullptr;
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back({});
    }
    const std::uint32_t index = free_.front();
    free_.pop_front();
    Slot& slot = slots_[index];
    slot.generation = (slot.generation + 1) % generations;
    object->handle = static_cast<std::uint32_t>(kind) << 29 | slot.generation << 18 | index;
    slot.object = std::move(object);
    ++live_;
    return slot.object.get();
  }
  [[nodiscard]] T* find(std::uint32_t handle) const noexcept {
    const std::uint32_t index = handle % most;
    if (index >= slots_.size()) return nullptr;
    T* const object = slots_[index].object.get();
    return object != nullptr && object->handle == handle ? object : nullptr;
  }
  [[nodiscard]] T* find(const void* handle) const noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return number > UINT32_MAX ? nullptr : find(static_cast<std::uint32_t>(number));
  }
  void remove(T& object) noexcept {
    const std::uint32_t index = object.handle % most;
    slots_[index].object.reset();
    free_.push_back(index);
    --live_;
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls f(object) for each; f may remove it, and add others.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      if (T* const object = slots_[index].object.get(); object != nullptr) f(*object);
    }
  }

 private:
  static constexpr std::uint32_t generations = 2048;
  struct Slot {
    std::unique_ptr<T> object;
    std::uint32_t generation = 0;
  };
  std::vector<Slot> slots_;
  std::deque<std::uint32_t> free_;
  std::size_t live_ = 0;
};

/// As programs have it.
[[nodiscard]] inline void* pointer_of(std::uint32_t handle) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(handle));
}

}  // namespace fulmar::vipl
