// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/memory/slot_arena.h"

namespace fulmar::mpi {

/// The objects of one handle type of MPI_T. A handle that was freed, or that is none, is
/// recognised. Owns the objects. Thread rule: the lock of the library.
template <class T, class Handle>
class HandleTable {
 public:
  HandleTable() noexcept : arena_(sizeof(T), most, quarantine) {}
  ~HandleTable() { clear(); }
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// A new object; nullptr when there are too many.
  template <class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    void* memory = arena_.allocate();
    if (memory == nullptr) return nullptr;
    live_.push_back(new (memory) T{std::forward<Args>(args)...});
    return live_.back();
  }
  [[nodiscard]] Handle handle_of(const T& object) const noexcept {
    return reinterpret_cast<Handle>(arena_.handle_of(&object));
  }
  /// nullptr for an invalid handle.
  [[nodiscard]] T* find(Handle handle) const noexcept {
    return static_cast<T*>(arena_.find(reinterpret_cast<std::uintptr_t>(handle)));
  }
  void free(T& object) noexcept {
    live_.erase(std::find(live_.begin(), live_.end(), &object));
    object.~T();
    arena_.free(&object);
  }
  void clear() noexcept {
    while (!live_.empty()) free(*live_.back());
  }
  /// All live objects, in the order in which they were made.
  [[nodiscard]] const std::vector<T*>& live() const noexcept { return live_; }

 private:
  static constexpr std::size_t most = std::size_t{1} << 16;
  static constexpr std::uint32_t quarantine = 16;

  base::SlotArena arena_;
  std::vector<T*> live_;
};

}  // namespace fulmar::mpi
