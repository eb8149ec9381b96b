// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace fulmar::wire {

/// Writes numbers in network byte order, one after the other, into the caller's buffer; numbers
/// that do not fit are omitted.
class NetworkWriter {
 public:
  explicit NetworkWriter(std::span<std::byte> out) noexcept : out_(out) {}

  template <std::unsigned_integral T>
  void number(T value) noexcept {
    if (out_.size() < sizeof(T)) return;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_[i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)) & 0xff);
    }
    out_ = out_.subspan(sizeof(T));
  }
  void bytes(std::span<const std::byte> from) noexcept {
    if (out_.size() < from.size()) return;
    std::copy(from.begin(), from.end(), out_.begin());
    out_ = out_.subspan(from.size());
  }
  /// Bytes left in the buffer.
  [[nodiscard]] std::size_t left() const noexcept { return out_.size(); }

 private:
  std::span<std::byte> out_;
};

/// Reads what NetworkWriter wrote. Numbers beyond the end of the input read as zero.
class NetworkReader {
 public:
  explicit NetworkReader(std::span<const std::byte> in) noexcept : in_(in) {}

  template <std::unsigned_integral T>
  [[nodiscard]] T number() noexcept {
    if (in_.size() < sizeof(T)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value = value << 8 | std::to_integer<std::uint8_t>(in_[i]);
    }
    in_ = in_.subspan(sizeof(T));
    return static_cast<T>(value);
  }
  void bytes(std::span<std::byte> to) noexcept {
    if (in_.size() < to.size()) {
      std::fill(to.begin(), to.end(), std::byte{0});
      return;
    }
    std::copy_n(in_.begin(), to.size(), to.begin());
    in_ = in_.subspan(to.size());
  }

 private:
  std::span<const std::byte> in_;
};

}  // namespace fulmar::wire
