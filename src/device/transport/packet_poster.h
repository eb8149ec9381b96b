// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/network.h"

namespace fulmar::device {

/// Posts packets on a network whose bodies a callback writes: `fill(to, at)` writes the bytes of
/// the body from `at` on. A body that is one run of memory (`fill.run(bytes)`) is posted from
/// there, any other is assembled in a buffer first.
///
/// Thread rule: the lock of the engine.
class PacketPoster {
 public:
  /// `network` outlives this.
  explicit PacketPoster(fabric::Network& network)
      : network_(network), body_(network.attributes().body_bytes) {}

  [[nodiscard]] fabric::Network& network() noexcept { return network_; }

  template <class Fill>
  [[nodiscard]] fabric::Post put(std::uint32_t peer, const wire::Envelope& envelope,
                                 Fill&& fill) noexcept {
    if constexpr (requires { fill.run(std::size_t{0}); }) {
      const std::span<const std::byte> run = fill.run(envelope.length);
      if (!run.empty()) return network_.post(peer, envelope, run);
    }
    const std::span<std::byte> body = std::span(body_).first(envelope.length);
    fill(body, std::uint64_t{0});
    return network_.post(peer, envelope, body);
  }

 private:
  fabric::Network& network_;
  std::vector<std::byte> body_;
};

}  // namespace fulmar::device
