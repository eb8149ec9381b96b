// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "interfaces/device_port.h"

/// The records of a port.
namespace fulmar::interfaces {

/// A receive for a frame of any process.
struct DevicePort::Posted : device::Operation {
  DevicePort* port = nullptr;
  std::array<std::byte, frame_bytes> bytes;
};

/// A frame on its way, or before it, and its payload where that is apart.
struct DevicePort::SentFrame : device::Operation {
  struct Payload : device::Operation {
    SentFrame* frame = nullptr;
  };
  DevicePort* port = nullptr;
  SendCompletion* completion = nullptr;  ///< to be told; null: nobody, or it has been
  std::span<const std::byte> payload;    ///< to be sent apart; empty: none
  Payload payload_send;
  wire::FrameHeader header;
  std::size_t length = 0;   ///< of the frame, in bytes
  std::uint32_t parts = 0;  ///< messages that are not done
  std::array<std::byte, frame_bytes> bytes;
};

/// A frame that is here and not delivered.
struct DevicePort::KeptFrame : device::Operation {
  DevicePort* port = nullptr;
  std::uint32_t from = 0;
  wire::FrameHeader header;
  std::vector<std::byte> body;
  Client::Payload payload = Client::Payload::none;
  bool complete = true;  ///< the payload is not on its way

  void payload_arrived() noexcept;
};

struct DevicePort::Peer {
  std::uint32_t rank = 0;
  bool lost = false;
  std::uint32_t next_sequence = 1;   ///< of the next frame to it
  std::uint32_t unacknowledged = 0;  ///< frames to it that it has not delivered
  std::deque<SentFrame*> waiting;    ///< for credits
  std::set<SentFrame*> moving;       ///< their payloads are on the way, apart
  std::uint32_t awaited = 1;         ///< number of the next frame from it
  std::map<std::uint32_t, std::vector<std::byte>> early;  ///< frames that overtook others
  std::deque<std::unique_ptr<KeptFrame>> pending;         ///< in order
  std::uint32_t credits = 0;         ///< frames from it that were delivered and not acknowledged
  std::uint32_t prompt_credits = 0;  ///< of so many frames it wants to hear at once
};

/// 0 is no number.
constexpr std::uint32_t sequence_after(std::uint32_t sequence) noexcept {
  return sequence == UINT32_MAX ? 1 : sequence + 1;
}

}  // namespace fulmar::interfaces
