// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::fabric::bundle {

/// The rate of a rail to one peer, and how many bytes it may have in flight: measured from what the peer
/// acknowledges, because only that has crossed the network. What a socket accepts only shows the size
/// of its buffer.
///
/// The rate counts only the time in which something was in flight. A single piece mostly measures the
/// round trip; it counts only if it was faster than the present estimate.
///
/// The limit of bytes in flight is twice what the rail carries in the shortest time that a piece took:
/// enough to keep it busy, and so little that a slowdown is noticed soon. It starts with a few pieces,
/// its minimum, and doubles with each acknowledgement as long as the measured rate grows.
///
/// Times are nanoseconds of any one clock.
class Speed {
 public:
  static constexpr std::uint64_t least_under_way_bytes = 384U << 10;
  static constexpr std::uint64_t most_under_way_bytes = 16U << 20;

  Speed() = default;
  /// `bytes_per_second`: the estimate until something is measured.
  explicit Speed(double bytes_per_second) noexcept : bytes_per_ns_(bytes_per_second / 1e9) {}

  void sent(std::uint64_t bytes, std::uint64_t now_ns) noexcept;
  /// `since_ns`: when these bytes were sent.
  void acknowledged(std::uint64_t bytes, std::uint64_t since_ns, std::uint64_t now_ns) noexcept;
  /// What is in flight never arrives.
  void forget_under_way() noexcept { under_way_ = pieces_ = 0; }

  [[nodiscard]] std::uint64_t under_way_bytes() const noexcept { return under_way_; }
  [[nodiscard]] bool has_room() const noexcept { return under_way_ < limit_; }
  /// Nanoseconds from now until so many further bytes would have arrived.
  [[nodiscard]] double finish_ns(std::uint64_t bytes) const noexcept {
    return static_cast<double>(under_way_ + bytes) / bytes_per_ns_;
  }
  [[nodiscard]] double bytes_per_second() const noexcept { return bytes_per_ns_ * 1e9; }
  [[nodiscard]] bool is_measured() const noexcept { return measured_; }

 private:
  void take_sample() noexcept;

  double bytes_per_ns_ = 1;
  double shortest_ns_ = 0;  ///< from sending a piece to its acknowledgement; 0: none so far
  std::uint64_t limit_ = least_under_way_bytes;
  std::uint64_t under_way_ = 0;
  std::uint32_t pieces_ = 0;    ///< under way
  std::uint64_t since_ns_ = 0;  ///< of the last acknowledgement, or of the end of idleness
  std::uint64_t sample_bytes_ = 0;
  std::uint64_t sample_ns_ = 0;
  std::uint32_t sample_pieces_ = 0;
  bool sample_overlaps_ = false;  ///< more than one piece was under way at a time
  bool measured_ = false;
};

}  // namespace fulmar::fabric::bundle
