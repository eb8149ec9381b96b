// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "device/memory_opener.h"
#include "fabric/provider.h"

namespace fulmar::device {

struct Operation;

/// The books of one long message of which an adapter moves the bytes, on one side. There is one
/// exactly while memory is open for the message here.
struct Transfer {
  Operation* operation = nullptr;
  TakenMemory memory;           ///< of this process
  fabric::RemoteAddress place;  ///< of the message's first byte at the peer, where that is known
  std::uint32_t orders = 0;     ///< of this process, under way
  bool lost = false;            ///< one of those has failed, or none can be given any more
  bool fin_is_due = false;      ///< when they have ended: of a put that is not chained to its end
};

/// Transfers by number. The token of a transfer's orders tells its number, and, by a generation,
/// whether it is still that one; no cookie of an operation looks like a token.
class Transfers {
 public:
  /// Set in every token, and in no cookie (device/cookies.h): those have an index there, of at most
  /// 31 bits.
  static constexpr std::uint64_t token_bit = std::uint64_t{1} << 31;

  [[nodiscard]] std::uint32_t add(Operation& operation, const TakenMemory& memory) {
    std::uint32_t number = first_free_;
    if (number == none) {
      number = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      first_free_ = entries_[number].next_free;
    }
    entries_[number].transfer = {&operation, memory, {}, 0, false, false};
    ++live_;
    return number;
  }
  /// Of a live one. Stays where it is until removed.
  [[nodiscard]] Transfer& at(std::uint32_t number) noexcept { return entries_[number].transfer; }
  [[nodiscard]] std::uint64_t token(std::uint32_t number) const noexcept {
    return std::uint64_t{entries_[number].generation} << 32 | token_bit | number;
  }
  static constexpr bool is_token(std::uint64_t value) noexcept { return (value & token_bit) != 0; }
  /// The live transfer of a token, or nullptr.
  [[nodiscard]] Transfer* find(std::uint64_t token) noexcept {
    const auto number = static_cast<std::uint32_t>(token & (token_bit - 1));
    if (number >= entries_.size() || entries_[number].generation != token >> 32) return nullptr;
    Transfer& transfer = entries_[number].transfer;
    return transfer.operation != nullptr ? &transfer : nullptr;
  }
  void remove(std::uint32_t number) noexcept {
    entries_[number].transfer.operation = nullptr;
    ++entries_[number].generation;
    entries_[number].next_free = first_free_;
    first_free_ = number;
    --live_;
  }

  [[nodiscard]] std::size_t live() const noexcept { return live_; }
  /// Calls f(transfer) for each live one; f may add and remove.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t number = 0; number < entries_.size(); ++number) {
      if (entries_[number].transfer.operation != nullptr) f(entries_[number].transfer);
    }
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Entry {
    Transfer transfer;
    std::uint32_t generation = 1;
    std::uint32_t next_free = none;
  };
  std::deque<Entry> entries_;
  std::uint32_t first_free_ = none;
  std::size_t live_ = 0;
};

}  // namespace fulmar::device
