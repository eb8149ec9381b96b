// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <new>

#include "interfaces/device_port_state.h"

namespace fulmar::interfaces {

using wire::SystemKind;

bool DevicePort::send(std::uint32_t to, std::uint8_t kind, std::span<const std::byte> header,
                      std::span<const std::byte> payload, SendCompletion* completion) noexcept {
  const base::EngineGuard guard(device_.lock());
  if (to >= size_ || to == rank_ || header.size() > most_header_bytes) return false;
  Peer& target = peer(to);
  if (target.lost) {
    if (completion != nullptr) completion->done(*completion, Outcome::failed);
    return true;
  }
  SentFrame* const frame =
      make_frame(to, {kind, 0, 0, 0, static_cast<std::uint64_t>(payload.size())}, header, payload);
  if (frame == nullptr) return false;
  frame->completion = completion;
  const bool is_copied = frame->payload.empty();
  if (!target.waiting.empty() || target.unacknowledged >= frame_window) {
    target.waiting.push_back(frame);
  } else {
    dispatch(target, *frame);
  }
  // What is in the frame is copied; `frame` may be gone.
  if (is_copied && completion != nullptr) completion->done(*completion, Outcome::done);
  return true;
}

/// A frame, from the store or made; nullptr: no memory.
DevicePort::SentFrame* DevicePort::make_frame(std::uint32_t to, const wire::FrameHeader& header,
                                              std::span<const std::byte> body,
                                              std::span<const std::byte> payload) noexcept {
  if (free_frames_.empty()) {
    std::unique_ptr<SentFrame> made(new (std::nothrow) SentFrame);
    if (made == nullptr) return nullptr;
    free_frames_.push_back(made.get());
    frames_.push_back(std::move(made));
  }
  SentFrame* const frame = free_frames_.back();
  free_frames_.pop_back();
  frame->port = this;
  frame->completion = nullptr;
  frame->header = header;
  frame->payload = {};
  std::byte* at = frame->bytes.data() + sizeof(wire::FrameHeader);
  at = std::ranges::copy(body, at).out;
  const std::size_t room = frame->bytes.size() - sizeof(wire::FrameHeader) - body.size();
  if (!payload.empty() && payload.size() <= room) {
    frame->header.flags |= wire::frame_inline;
    at = std::ranges::copy(payload, at).out;
  } else {
    frame->payload = payload;
  }
  frame->length = static_cast<std::size_t>(at - frame->bytes.data());
  frame->key() = {frame_context_, to, 0};
  // A completion of an inline payload is told by `send`.
  return frame;
}

/// Sends a numbered or unnumbered frame. It may be done, and gone, on return.
void DevicePort::dispatch(Peer& target, SentFrame& frame) noexcept {
  const bool is_numbered = (frame.header.flags & wire::frame_unnumbered) == 0;
  if (is_numbered) {
    frame.header.sequence = target.next_sequence;
    target.next_sequence = sequence_after(target.next_sequence);
    ++target.unacknowledged;
  }
  frame.header.credits =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(target.credits, 0xffff));
  target.credits -= frame.header.credits;
  std::memcpy(frame.bytes.data(), &frame.header, sizeof frame.header);
  frame.buffer = {frame.bytes.data(), frame.length, nullptr};
  frame.on_done = [](device::Operation& operation) {
    auto& sent = static_cast<SentFrame&>(operation);
    sent.port->part_sent(sent);
  };
  frame.parts = 1;
  if (!frame.payload.empty()) {
    frame.parts = 2;
    SentFrame::Payload& payload = frame.payload_send;
    payload.frame = &frame;
    payload.on_done = [](device::Operation& operation) {
      SentFrame& sent = *static_cast<SentFrame::Payload&>(operation).frame;
      sent.port->payload_sent(sent);
    };
    payload.buffer = {const_cast<std::byte*>(frame.payload.data()), frame.payload.size(), nullptr};
    payload.key() = {payload_context_, target.rank, wire::payload_tag(frame.header.sequence)};
    target.moving.insert(&frame);
    device_.start_send(frame);
    device_.start_send(payload);
    return;
  }
  frame.completion = nullptr;
  device_.start_send(frame);
}

void DevicePort::send_waiting(Peer& target) noexcept {
  while (!target.lost && !target.waiting.empty() && target.unacknowledged < frame_window) {
    SentFrame* const frame = target.waiting.front();
    target.waiting.pop_front();
    dispatch(target, *frame);
  }
}

void DevicePort::payload_sent(SentFrame& frame) noexcept {
  SendCompletion* const completion = std::exchange(frame.completion, nullptr);
  const device::Outcome& outcome = frame.payload_send.outcome;
  const bool is_done = outcome.error == base::ErrorClass::success && !outcome.cancelled;
  peer(frame.payload_send.key().peer).moving.erase(&frame);
  part_sent(frame);
  if (completion != nullptr) {
    completion->done(*completion, is_done ? Outcome::done : Outcome::failed);
  }
}

void DevicePort::part_sent(SentFrame& frame) noexcept {
  if (--frame.parts == 0) free_frames_.push_back(&frame);
}

/// Credits, questions for them and barriers are unnumbered: they are never acknowledged.
void DevicePort::send_system(std::uint32_t to, SystemKind kind,
                             std::span<const std::byte> body) noexcept {
  Peer& target = peer(to);
  if (target.lost) return;
  const bool is_numbered = kind == SystemKind::ticket || kind == SystemKind::asked ||
                           kind == SystemKind::granted || kind == SystemKind::closed;
  const std::uint8_t flags =
      is_numbered ? wire::frame_system : wire::frame_system | wire::frame_unnumbered;
  SentFrame* const frame =
      make_frame(to, {static_cast<std::uint8_t>(kind), flags, 0, 0, 0}, body, {});
  if (frame == nullptr) return;
  if (is_numbered && (!target.waiting.empty() || target.unacknowledged >= frame_window)) {
    target.waiting.push_back(frame);
  } else {
    dispatch(target, *frame);
  }
}

/// Frames that never left, because their peer is lost, and payloads that it will not take.
void DevicePort::fail_waiting(Peer& target) noexcept {
  while (!target.waiting.empty()) {
    SentFrame* const frame = target.waiting.front();
    target.waiting.pop_front();
    free_frames_.push_back(frame);
    // That of an inline payload has been told.
    SendCompletion* const completion = frame->payload.empty() ? nullptr : frame->completion;
    if (completion != nullptr) completion->done(*completion, Outcome::failed);
  }
  const std::set<SentFrame*> moving = target.moving;
  for (SentFrame* const frame : moving) device_.cancel(frame->payload_send);
}

}  // namespace fulmar::interfaces
