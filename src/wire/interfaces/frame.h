// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/node/segment_offer.h"
#include "wire/packets.h"

/// The frames that ports of src/interfaces exchange, as messages of the device. A frame is a
/// header, then the client's header, then, in an inline frame, the payload:
///
///     bytes  0..16            FrameHeader
///     bytes 16..              the client's header, or the body of a system frame
///     the last payload_bytes  the payload, with frame_inline
///
/// A longer payload is a message of its own: context `payload_context`, tag
/// `payload_tag(sequence)`. In the byte order of the hosts, which is one in a job.
namespace fulmar::wire {

/// Above all numbers that communicators get.
inline constexpr std::uint32_t interface_contexts = 0xf0000000;

/// `life`: how often the port was open before in each process, so that a frame for the next one
/// does not come to this one. Comes again after 2^20 lives.
constexpr std::uint32_t frame_context(std::uint8_t port, std::uint32_t life) noexcept {
  return interface_contexts + (port & 0x7fU) * (1U << 21) + life % (1U << 20) * 2;
}
constexpr std::uint32_t payload_context(std::uint8_t port, std::uint32_t life) noexcept {
  return frame_context(port, life) + 1;
}
constexpr std::int32_t payload_tag(std::uint32_t sequence) noexcept {
  return static_cast<std::int32_t>(sequence & 0x7fffffff);
}

inline constexpr std::uint8_t frame_inline = 1;      ///< the payload is in the frame
inline constexpr std::uint8_t frame_system = 2;      ///< `kind` is a SystemKind
inline constexpr std::uint8_t frame_unnumbered = 4;  ///< takes no number and needs no credit

/// `kind` of frames between the ports themselves.
enum class SystemKind : std::uint8_t {
  credits,       ///< carries credits, nothing else
  want_credits,  ///< send all credits now
  barrier,       ///< BarrierBody
  ticket,        ///< SegmentTicketBody: a segment is offered
  asked,         ///< SegmentIdBody: the asker has connected
  granted,       ///< SegmentIdBody: the file is in the socket
  closed,        ///< the port accepts no more frames
  last = closed,
};

struct FrameHeader {
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  std::uint16_t credits = 0;   ///< frames of the receiver that were delivered since
  std::uint32_t sequence = 0;  ///< of the frames of this port to this peer, from 1; 0: unnumbered
  std::uint64_t payload_bytes = 0;
};

struct BarrierBody {
  std::uint32_t epoch;
  std::uint32_t round;
};
struct SegmentTicketBody {
  std::uint64_t id;
  SegmentTicket ticket;
};
struct SegmentIdBody {
  std::uint64_t id;
};

static_assert(sizeof(FrameHeader) == 16 && offsetof(FrameHeader, payload_bytes) == 8);
static_assert(sizeof(BarrierBody) == 8 && sizeof(SegmentTicketBody) == 64 &&
              sizeof(SegmentIdBody) == 8);

/// A frame in its parts. They refer to the bytes that were decoded.
struct FrameView {
  FrameHeader header;
  std::span<const std::byte> body;     ///< the client's header
  std::span<const std::byte> payload;  ///< of an inline frame
};

/// Nothing for bytes that are no frame: too short, unknown flags, an inline payload longer than the
/// rest, a number in an unnumbered frame or none in a numbered one, an unknown system kind,
/// a payload longer than any address space.
inline std::optional<FrameView> decode_frame(std::span<const std::byte> bytes) noexcept {
  const auto header = decode<FrameHeader>(bytes);
  if (!header) return std::nullopt;
  constexpr std::uint8_t known = frame_inline | frame_system | frame_unnumbered;
  constexpr std::uint64_t most_payload_bytes = std::uint64_t{1} << 47;
  const bool is_system = (header->flags & frame_system) != 0;
  const bool is_unnumbered = (header->flags & frame_unnumbered) != 0;
  if ((header->flags & ~known) != 0 || header->payload_bytes > most_payload_bytes) {
    return std::nullopt;
  }
  if (is_unnumbered != (header->sequence == 0) || (is_unnumbered && !is_system)) {
    return std::nullopt;
  }
  if (is_system &&
      (header->kind > static_cast<std::uint8_t>(SystemKind::last) || header->payload_bytes != 0)) {
    return std::nullopt;
  }
  FrameView view{*header, bytes.subspan(sizeof(FrameHeader)), {}};
  if ((header->flags & frame_inline) == 0) return view;
  if (header->payload_bytes > view.body.size()) return std::nullopt;
  const std::size_t body_bytes = view.body.size() - static_cast<std::size_t>(header->payload_bytes);
  view.payload = view.body.subspan(body_bytes);
  view.body = view.body.first(body_bytes);
  return view;
}

}  // namespace fulmar::wire
