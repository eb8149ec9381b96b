// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/transport/node_segment.h"
#include "interfaces/core.h"
#include "wire/interfaces/frame.h"

namespace fulmar::interfaces {

/// A segment with the mapping behind it.
struct MappedSegment : Segment {
  explicit MappedSegment(device::NodeSegment memory) noexcept
      : Segment{memory.memory().data(), memory.memory().size()}, mapping(std::move(memory)) {}
  device::NodeSegment mapping;
};

/// Hands segments from the process that made them to others of the node, by the steps of
/// wire/node/segment_offer.h; the words that pace them are system frames of a port.
///
/// Thread rule: the lock of the engine.
class SegmentExchange {
 public:
  /// What is above: called with `context`, and may be called from every member.
  struct Owner {
    void* context = nullptr;
    void (*send)(void* context, std::uint32_t peer, wire::SystemKind kind,
                 std::span<const std::byte> body) noexcept = nullptr;
    /// nullptr: it cannot be mapped.
    void (*mapped)(void* context, std::uint32_t peer, std::uint64_t id,
                   Segment* segment) noexcept = nullptr;
  };
  SegmentExchange(const wire::ProcessName& self, const Owner& owner) noexcept
      : self_(self), owner_(owner) {}
  SegmentExchange(const SegmentExchange&) = delete;
  SegmentExchange& operator=(const SegmentExchange&) = delete;

  /// Offers a segment of this process to the process `name`, which is `peer`. False: no socket.
  [[nodiscard]] bool offer(const MappedSegment& segment, std::uint32_t peer,
                           const wire::ProcessName& name, std::uint64_t id);
  /// No file is handed over any more.
  void withdraw(const MappedSegment& segment) noexcept;
  /// A peer hears and says nothing any more; what it offered counts as not to be mapped.
  void forget(std::uint32_t peer) noexcept;

  // What peers say. Ids that mean nothing are ignored.
  void on_ticket(std::uint32_t peer, const wire::SegmentTicketBody& body) noexcept;
  void on_asked(std::uint32_t peer, const wire::SegmentIdBody& body) noexcept;
  void on_granted(std::uint32_t peer, const wire::SegmentIdBody& body) noexcept;

  /// Steps that could not be made before; how many there were.
  unsigned step() noexcept;

 private:
  struct Offer {
    const MappedSegment* segment;
    std::uint32_t peer;
    std::uint64_t id;
    std::unique_ptr<device::SegmentOffer> offer;
  };
  struct Request {
    std::uint32_t peer;
    std::uint64_t id;
    device::SegmentRequest request;
    bool has_asked = false;
    bool granted = false;
  };
  enum class Step : std::uint8_t { waits, moved, over };
  Step advance(Request& request) noexcept;
  void say(std::uint32_t peer, wire::SystemKind kind, std::uint64_t id) noexcept;

  wire::ProcessName self_;
  Owner owner_;
  std::vector<Offer> offers_;
  std::vector<Request> requests_;
};

}  // namespace fulmar::interfaces
