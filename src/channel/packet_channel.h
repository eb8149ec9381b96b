// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/provider.h"

namespace fulmar::channel {

struct PacketLink {
  std::uint32_t peer = 0;
};

/// The channel over a provider that carries packets itself: bodies are built in a buffer and
/// posted, or posted from where they lie if whoever fills them knows that they are one run
/// (`fill.run(bytes)`).
template <fabric::SendsPackets P>
class PacketChannel {
 public:
  using Link = PacketLink;
  static constexpr std::size_t max_body_bytes = P::max_body_bytes;

  explicit PacketChannel(P& provider) noexcept : provider_(provider) {}

  [[nodiscard]] std::unique_ptr<Link> connect(std::uint32_t peer) {
    return std::make_unique<Link>(Link{peer});
  }

  template <class Fill>
  [[nodiscard]] fabric::Post put(Link& link, const wire::Envelope& envelope, Fill&& fill) noexcept {
    if constexpr (requires { fill.run(std::size_t{0}); }) {
      const std::span<const std::byte> run = fill.run(envelope.length);
      if (!run.empty()) return provider_.post(link.peer, envelope, run);
    }
    fill(std::span(body_.data(), envelope.length), std::uint64_t{0});
    return provider_.post(link.peer, envelope, std::span(body_.data(), envelope.length));
  }
  [[nodiscard]] std::size_t body_limit(Link& link, std::size_t /*wanted*/) noexcept {
    if constexpr (requires { provider_.body_limit(link.peer); }) {
      return provider_.body_limit(link.peer);
    }
    return max_body_bytes;
  }
  template <fabric::Sink S>
  unsigned get(S& sink) noexcept {
    return provider_.poll(sink);
  }
  [[nodiscard]] P& provider() noexcept { return provider_; }

 private:
  P& provider_;
  std::array<std::byte, P::max_body_bytes> body_;
};

}  // namespace fulmar::channel
