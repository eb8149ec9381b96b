// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fulmar::mpi {

/// Handles of requests that were complete when they were made: short immediate sends. Nothing needs
/// to be remembered of such a request but that its handle is valid, so all of them share one
/// object, and a handle is the address of a byte that says whether it lives. A handle that was
/// given back is recognised as stale until all others have been used.
///
/// Thread rule: the lock of the library.
class DoneHandles {
 public:
  static constexpr std::size_t count = 16384;

  /// A new handle, or 0 where the next in turn is still in use; the caller then makes a request.
  [[nodiscard]] std::uintptr_t take() noexcept {
    const std::size_t index = next_;
    next_ = (next_ + 1) % count;
    if (live_[index] != 0) [[unlikely]]
      return 0;
    live_[index] = 1;
    return base() + index;
  }
  [[nodiscard]] bool holds(std::uintptr_t handle) const noexcept {
    const std::uintptr_t index = handle - base();
    return index < count && live_[index] != 0;
  }
  /// Ends a handle. False if it is none.
  bool give_back(std::uintptr_t handle) noexcept {
    if (!holds(handle)) return false;
    live_[handle - base()] = 0;
    return true;
  }

  /// A handle as a number below `count`, and back; -1 and 0 for what is none.
  [[nodiscard]] std::int64_t number_of(std::uintptr_t handle) const noexcept {
    const std::uintptr_t index = handle - base();
    return index < count ? static_cast<std::int64_t>(index) : -1;
  }
  [[nodiscard]] std::uintptr_t handle_of_number(std::int64_t number) const noexcept {
    const auto index = static_cast<std::uintptr_t>(number);
    return index < count ? base() + index : 0;
  }

 private:
  [[nodiscard]] std::uintptr_t base() const noexcept {
    return reinterpret_cast<std::uintptr_t>(live_.data());
  }

  std::size_t next_ = 0;
  std::array<std::uint8_t, count> live_{};
};

}  // namespace fulmar::mpi
