// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/packets.h"

namespace fulmar::device {

struct Operation;

/// Names for operations that peers may answer. A name holds an index and a generation, so one that
/// is stale, or invented by a peer, is recognised.
class CookieTable {
 public:
  [[nodiscard]] wire::Cookie add(Operation& operation) {
    std::uint32_t index = first_free_;
    if (index == none) {
      index = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({});
    } else {
      first_free_ = entries_[index].next_free;
    }
    entries_[index].operation = &operation;
    ++live_;
    return std::uint64_t{entries_[index].generation} << 32 | (index + 1);
  }
  /// The operation of a live name, or nullptr.
  [[nodiscard]] Operation* find(wire::Cookie cookie) const noexcept {
    const std::uint64_t index = (cookie & 0xffffffff) - 1;
    if (index >= entries_.size() || entries_[index].generation != cookie >> 32) return nullptr;
    return entries_[index].operation;
  }
  void remove(wire::Cookie cookie) noexcept {
    const auto index = static_cast<std::uint32_t>((cookie & 0xffffffff) - 1);
    entries_[index].operation = nullptr;
    ++entries_[index].generation;
    entries_[index].next_free = first_free_;
    first_free_ = index;
    --live_;
  }
  /// Calls f(operation) for each named operation; f may add and remove names.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t index = 0; index < entries_.size(); ++index) {
      if (entries_[index].operation != nullptr) f(*entries_[index].operation);
    }
  }
  [[nodiscard]] std::size_t live() const noexcept { return live_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Entry {
    Operation* operation = nullptr;
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
  };
  std::vector<Entry> entries_;
  std::uint32_t first_free_ = none;
  std::size_t live_ = 0;
};

}  // namespace fulmar::device
