// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "interfaces/device_port_state.h"

namespace fulmar::interfaces {

using wire::SystemKind;

void DevicePort::post(Posted& receive) noexcept {
  receive.port = this;
  receive.on_done = [](device::Operation& operation) {
    auto& arrived = static_cast<Posted&>(operation);
    DevicePort& port = *arrived.port;
    const device::Outcome outcome = arrived.outcome;
    if (outcome.cancelled || port.stopping_) return;
    if (outcome.error == base::ErrorClass::success) {
      port.take(outcome.peer, std::span(arrived.bytes).first(outcome.bytes));
    } else {
      ++port.malformed_;  // longer than any frame, or its sender has died in the middle
    }
    port.post(arrived);
  };
  receive.buffer = {receive.bytes.data(), receive.bytes.size(), nullptr};
  receive.key() = {frame_context_, match::any_peer, 0};
  device_.start_receive(receive);
}

void DevicePort::take(std::uint32_t from, std::span<const std::byte> bytes) noexcept {
  const auto view = wire::decode_frame(bytes);
  if (!view || from >= size_ || from == rank_) {
    ++malformed_;
    return;
  }
  Peer& source = peer(from);
  if (source.lost) return;
  take_credits_of(source, view->header.credits);
  if (view->header.sequence == 0) {
    take_system(source, *view);
  } else {
    take_numbered(source, *view, bytes);
  }
}

void DevicePort::take_credits_of(Peer& source, std::uint16_t credits) noexcept {
  if (credits > source.unacknowledged) {
    ++malformed_;
    return;
  }
  source.unacknowledged -= credits;
  if (credits != 0) send_waiting(source);
}

void DevicePort::take_numbered(Peer& source, const wire::FrameView& view,
                               std::span<const std::byte> bytes) noexcept {
  const std::uint32_t ahead = view.header.sequence - source.awaited;
  if (ahead != 0) {
    // The number 0 is left out, so one more may be between them.
    const bool fits = ahead <= frame_window && !source.early.contains(view.header.sequence);
    if (fits) source.early.emplace(view.header.sequence, std::vector(bytes.begin(), bytes.end()));
    if (!fits) ++malformed_;
    return;
  }
  take_next(source, view);
  for (auto next = source.early.find(source.awaited); next != source.early.end();
       next = source.early.find(source.awaited)) {
    const std::vector<std::byte> kept = std::move(next->second);
    source.early.erase(next);
    if (const auto early = wire::decode_frame(kept)) take_next(source, *early);
  }
}

/// The frame whose turn it is. The straight way is for frames that wait for nothing.
void DevicePort::take_next(Peer& source, const wire::FrameView& view) noexcept {
  source.awaited = sequence_after(source.awaited);
  const bool is_whole =
      view.header.payload_bytes == 0 || (view.header.flags & wire::frame_inline) != 0;
  if (!is_whole || !source.pending.empty()) {
    // A peer that is beyond its window keeps this process from forgetting what it sends.
    if (source.pending.size() > frame_window) {
      ++malformed_;
      return;
    }
    return keep(source, view);
  }
  if ((view.header.flags & wire::frame_system) != 0) {
    take_system(source, view);
  } else {
    const Frame frame{source.rank, view.header.kind, view.body, view.header.payload_bytes};
    auto payload = Client::Payload::none;
    if (!view.payload.empty()) {
      std::byte* const place = client_.begin(frame);
      payload = place == nullptr ? Client::Payload::refused : Client::Payload::here;
      if (place != nullptr) std::ranges::copy(view.payload, place);
    }
    client_.deliver(frame, payload);
  }
  delivered(source);
}

void DevicePort::keep(Peer& source, const wire::FrameView& view) noexcept {
  auto made = std::make_unique<KeptFrame>();
  KeptFrame& incoming = *made;
  incoming.port = this;
  incoming.from = source.rank;
  incoming.header = view.header;
  incoming.body.assign(view.body.begin(), view.body.end());
  source.pending.push_back(std::move(made));
  if (view.header.payload_bytes == 0) return;
  const Frame frame{source.rank, view.header.kind, incoming.body, view.header.payload_bytes};
  std::byte* const place = client_.begin(frame);
  incoming.payload = place == nullptr ? Client::Payload::refused : Client::Payload::here;
  if ((view.header.flags & wire::frame_inline) != 0) {
    if (place != nullptr) std::ranges::copy(view.payload, place);
    return;
  }
  incoming.complete = false;
  incoming.on_done = [](device::Operation& operation) {
    static_cast<KeptFrame&>(operation).payload_arrived();
  };
  // Of a payload that nobody wants no byte moves.
  incoming.buffer = {place, place == nullptr ? 0 : view.header.payload_bytes, nullptr};
  incoming.key() = {payload_context_, source.rank, wire::payload_tag(view.header.sequence)};
  device_.start_receive(incoming);
}

void DevicePort::KeptFrame::payload_arrived() noexcept {
  complete = true;
  const bool is_whole = outcome.error == base::ErrorClass::success && !outcome.cancelled &&
                        outcome.bytes == header.payload_bytes;
  if (payload == Client::Payload::here && !is_whole) payload = Client::Payload::lost;
  port->deliver_pending(port->peer(from));
}

void DevicePort::deliver_pending(Peer& source) noexcept {
  while (!source.pending.empty() && source.pending.front()->complete) {
    const std::unique_ptr<KeptFrame> incoming = std::move(source.pending.front());
    source.pending.pop_front();
    if ((incoming->header.flags & wire::frame_system) != 0) {
      take_system(source, {incoming->header, incoming->body, {}});
    } else {
      client_.deliver(
          {source.rank, incoming->header.kind, incoming->body, incoming->header.payload_bytes},
          incoming->payload);
    }
    delivered(source);
  }
}

/// One frame more that the peer may forget.
void DevicePort::delivered(Peer& source) noexcept {
  ++source.credits;
  if (source.prompt_credits != 0) {
    --source.prompt_credits;
    send_system(source.rank, SystemKind::credits, {});
  } else if (source.credits >= frame_window / 4) {
    send_system(source.rank, SystemKind::credits, {});
  }
}

void DevicePort::take_system(Peer& source, const wire::FrameView& view) noexcept {
  const auto take = [&]<class Body>(void (SegmentExchange::*member)(
                        std::uint32_t, const Body&) noexcept) noexcept {
    const auto body = wire::decode<Body>(view.body);
    body ? (segments_.*member)(source.rank, *body) : void(++malformed_);
  };
  switch (static_cast<SystemKind>(view.header.kind)) {
    case SystemKind::credits:
      return;  // in the header
    case SystemKind::want_credits:
      source.prompt_credits = 2 * frame_window;
      return send_system(source.rank, SystemKind::credits, {});
    case SystemKind::barrier:
      if (const auto body = wire::decode<wire::BarrierBody>(view.body)) {
        // Nobody is more than one barrier ahead, and a barrier has at most 32 rounds.
        const bool is_near = body->epoch - barrier_epoch_ <= 1 && body->round < 32;
        if (is_near) barrier_arrivals_.insert({body->epoch, body->round, source.rank});
        malformed_ += is_near ? 0 : 1;
      } else {
        ++malformed_;
      }
      return;
    case SystemKind::ticket:
      return take(&SegmentExchange::on_ticket);
    case SystemKind::asked:
      return take(&SegmentExchange::on_asked);
    case SystemKind::granted:
      return take(&SegmentExchange::on_granted);
    case SystemKind::closed:
      return lose(source);
  }
  ++malformed_;
}

}  // namespace fulmar::interfaces
