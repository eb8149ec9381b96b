// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/operation.h"
#include "device/packet/packet_handlers.h"
#include "device/peer/peer_table.h"
#include "device/protocol/operations.h"
#include "device/protocol/rndv_stream.h"
#include "match/matcher.h"

namespace fulmar::device {

/// Tells networks where the bytes of messages go that they put in place themselves (fabric::PlacesBodies,
/// fabric::ExpectsBodies); see placement.cc. One of the parts of a device.
///
/// Thread rule: the lock of the engine.
class Placement {
 public:
  /// The parts that it uses; all outlive it.
  struct Parts {
    PeerTable& peers;
    PacketHandlers& handlers;
    match::Matcher& matcher;
    Stats& stats;
    Operations& operations;
    RndvStream& stream;
  };

  explicit Placement(const Parts& parts) noexcept : parts_(parts) {}
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  /// The answer is valid until the next call.
  [[nodiscard]] std::span<const iovec> place(std::uint32_t peer, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::uint64_t offset, std::uint64_t bytes) noexcept;
  void placed(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) noexcept;
  void part(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) noexcept;
  [[nodiscard]] bool expect(std::uint32_t peer, const wire::Envelope& envelope) noexcept;

 private:
  /// The part of a message that a packet carries.
  struct Target {
    Operation* receive = nullptr;
    std::uint64_t offset = 0;  ///< in the message
    std::uint64_t bytes = 0;   ///< that it takes
  };
  Target target_of(std::uint32_t peer, const wire::Envelope& envelope,
                   std::span<const std::byte> prefix, std::uint64_t offset,
                   std::uint64_t bytes) noexcept;

  Parts parts_;
  std::array<iovec, RndvStream::most_pieces> pieces_;  ///< of the last answer of `place`
};

}  // namespace fulmar::device
