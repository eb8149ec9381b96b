// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "device/packet/packet.h"
#include "device/peer/peer_table.h"
#include "wire/packet_names.h"
#include "wire/packets.h"

namespace fulmar::device {

/// The table of active-message handlers, one for each kind of packet. Each part of the
/// device, and each layer above it that has packets of its own, adds handlers for its kinds when it
/// is made; nothing else in the device needs to know the kind. (A new kind needs a number in
/// wire/cell.h and a name in wire/packet_names.h.)
///
/// Packets are not trusted. A packet of a kind without a handler, or too short for the body
/// of its handler, is counted as malformed and dropped here; the handler validates the contents of
/// a well-formed body.
///
/// Thread rule: the lock of the engine.
class PacketHandlers {
 public:
  /// `malformed`: counts what is dropped. Both outlive this.
  PacketHandlers(PeerTable& peers, std::uint64_t& malformed) noexcept
      : peers_(peers), malformed_(malformed) {}
  PacketHandlers(const PacketHandlers&) = delete;
  PacketHandlers& operator=(const PacketHandlers&) = delete;

  /// From now on packets of this kind go to a member function of `part`, which outlives this. It
  /// has one of these shapes, all noexcept; Body is a struct of wire/packets.h, and the peer is
  /// connected:
  ///
  ///     void (const Packet&)                               as received; the body may be incomplete
  ///     void (Peer&)                                       packets without a body
  ///     void (Peer&, const Body&)
  ///     void (Peer&, const Body&, const match::Key&)       with context and tag
  ///
  /// Requires that the kind has no handler yet.
  template <auto member, class Part>
  void add(wire::PacketKind kind, Part& part) noexcept {
    entries_[static_cast<std::size_t>(kind)] = {&call<member, Part>, &part};
  }

  /// Calls the handler of a packet.
  void take(const Packet& packet) noexcept {
    const auto kind = static_cast<std::size_t>(packet.envelope.kind);
    if (kind >= entries_.size() || entries_[kind].call == nullptr) {
      ++malformed_;
      return;
    }
    entries_[kind].call(*this, entries_[kind].part, packet);
  }

  /// The body at the front of `bytes`, for handlers that decode themselves. One that is too short
  /// is counted as malformed.
  template <class Body>
  [[nodiscard]] std::optional<Body> decode(std::span<const std::byte> bytes) noexcept {
    const auto body = wire::decode<Body>(bytes);
    if (!body) ++malformed_;
    return body;
  }

  /// For a body that a handler has found invalid.
  void count_malformed() noexcept { ++malformed_; }

  [[nodiscard]] bool has(wire::PacketKind kind) const noexcept {
    const auto number = static_cast<std::size_t>(kind);
    return number < entries_.size() && entries_[number].call != nullptr;
  }

 private:
  struct Entry {
    void (*call)(PacketHandlers&, void* part, const Packet&) = nullptr;
    void* part = nullptr;
  };

  template <class Member>
  struct BodyOf;
  template <class Part, class Body>
  struct BodyOf<void (Part::*)(Peer&, const Body&) noexcept> {
    using Type = Body;
  };
  template <class Part, class Body>
  struct BodyOf<void (Part::*)(Peer&, const Body&, const match::Key&) noexcept> {
    using Type = Body;
  };

  template <auto member, class Part>
  static void call(PacketHandlers& table, void* owner, const Packet& packet) noexcept {
    Part& part = *static_cast<Part*>(owner);
    if constexpr (std::is_invocable_v<decltype(member), Part&, const Packet&>) {
      (part.*member)(packet);
    } else if constexpr (std::is_invocable_v<decltype(member), Part&, Peer&>) {
      (part.*member)(table.peers_.connect(packet.peer));
    } else {
      using Body = typename BodyOf<decltype(member)>::Type;
      const auto body = table.decode<Body>(packet.body.bytes());
      if (!body) return;
      Peer& peer = table.peers_.connect(packet.peer);
      if constexpr (std::is_invocable_v<decltype(member), Part&, Peer&, const Body&>) {
        (part.*member)(peer, *body);
      } else {
        (part.*member)(peer, *body, packet.key());
      }
    }
  }

  PeerTable& peers_;
  std::uint64_t& malformed_;
  std::array<Entry, wire::packet_kinds> entries_{};
};

}  // namespace fulmar::device
