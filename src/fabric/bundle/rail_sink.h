// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fabric/bundle/pairs.h"

namespace fulmar::fabric::bundle {

/// The sink that a rail of a bundle calls while it is polled.
class Pairs::RailSink {
 public:
  RailSink(Pairs& pairs, std::uint32_t rail, SinkRef sink) noexcept
      : pairs_(pairs), rail_(rail), sink_(sink) {}

  void packet(std::uint32_t peer, const wire::Envelope& envelope, const Body& body);
  [[nodiscard]] std::span<const iovec> place(std::uint32_t peer, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::uint64_t offset, std::uint64_t bytes);
  void placed(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes);
  void part(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload);
  void sent(std::uint64_t token, Sent how);

 private:
  [[nodiscard]] bool is_unchanged(std::uint32_t peer) const;

  Pairs& pairs_;
  std::uint32_t rail_;
  SinkRef sink_;
};

}  // namespace fulmar::fabric::bundle
