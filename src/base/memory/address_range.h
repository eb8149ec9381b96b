// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace fulmar::base {

/// The addresses [begin, end) of this process, whatever is mapped there.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  [[nodiscard]] constexpr std::size_t bytes() const noexcept { return end - begin; }
  [[nodiscard]] constexpr bool empty() const noexcept { return begin >= end; }
  [[nodiscard]] constexpr bool contains(const AddressRange& other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
  [[nodiscard]] constexpr bool overlaps(const AddressRange& other) const noexcept {
    return begin < other.end && other.begin < end;
  }
  friend constexpr bool operator==(const AddressRange&, const AddressRange&) = default;
};

[[nodiscard]] inline AddressRange range_of(std::span<const std::byte> memory) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return {begin, begin + memory.size()};
}

/// The pages that `range` touches.
[[nodiscard]] inline AddressRange whole_pages(const AddressRange& range) noexcept {
  const auto mask = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1;
  return {range.begin & ~mask, (range.end + mask) & ~mask};
}

}  // namespace fulmar::base
