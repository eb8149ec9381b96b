// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/segments.h"

#include <utility>

#include "vipl/connections.h"
#include "vipl/send.h"

namespace fulmar::vipl {
namespace {

using State = RemoteSegment::State;

/// Numbers of own segments lie above what programs that use SISCI themselves choose, and below what it chooses.
constexpr std::uint32_t first_number = 0x40000000;

std::uint64_t key_of(std::uint32_t node, std::uint32_t number) noexcept {
  return std::uint64_t{node} << 32 | number;
}

/// Makes it of use, after it was connected.
bool map(RemoteSegment& segment) noexcept {
  sci_error_t error = SCI_ERR_OK;
  segment.bytes = SCIGetRemoteSegmentSize(segment.segment);
  segment.base = static_cast<std::byte*>(const_cast<void*>(
      SCIMapRemoteSegment(segment.segment, &segment.map, 0, segment.bytes, nullptr, 0, &error)));
  if (error == SCI_ERR_NOT_SUPPORTED) {
    segment.base = nullptr;
    segment.provider->uses_transfers = true;
    SCIMapRemoteSegment(segment.segment, &segment.map, 0, segment.bytes, nullptr,
                        SCI_FLAG_NO_ADDRESS_MAP, &error);
  }
  if (error != SCI_ERR_OK) return false;
  SCICreateMapSequence(segment.map, &segment.sequence, 0, &error);
  return error == SCI_ERR_OK;
}

/// A connection has ended one way or the other: what hangs on it goes on, or fails.
void settled(Provider& provider, RemoteSegment& segment) {
  provider.vis.for_each([&](Vi& vi) {
    if (vi.link == &segment) {
      on_link(provider, vi);
    } else if (vi.node == segment.node && vi.state == VIP_STATE_CONNECTED) {
      advance(provider, vi);
    }
  });
  notify(provider);
}

sci_callback_action_t on_event(void* argument, sci_remote_segment_t, sci_segment_cb_reason_t reason,
                               sci_error_t status) {
  auto& segment = *static_cast<RemoteSegment*>(argument);
  Provider& provider = *segment.provider;
  const Lock lock = locked(provider);
  const auto place = provider.remote_segments.find(key_of(segment.node, segment.number));
  const bool is_known = place != provider.remote_segments.end() && place->second.get() == &segment;
  if (!is_known) return SCI_CALLBACK_CONTINUE;
  if (reason == SCI_CB_CONNECT) {
    segment.state = status == SCI_ERR_OK && map(segment) ? State::ready : State::failed;
    segment.was_withdrawn =
        status == SCI_ERR_NO_SUCH_SEGMENT || status == SCI_ERR_CONNECTION_REFUSED;
  } else {
    segment.state = State::ended;
  }
  settled(provider, segment);
  return SCI_CALLBACK_CONTINUE;
}

}  // namespace

bool make_part(Provider& provider, LocalPart& part, std::size_t bytes, std::byte* memory) {
  constexpr unsigned tries = 1000;
  for (unsigned i = 0; i < tries; ++i) {
    const std::uint32_t number = first_number + provider.last_segment++ % first_number;
    if (make_part(provider, part, bytes, memory, number)) return true;
    if (part.number != number) break;
  }
  part = {};
  return false;
}

bool make_part(Provider& provider, LocalPart& part, std::size_t bytes, std::byte* memory,
               std::uint32_t number) {
  sci_error_t error = SCI_ERR_OK;
  part = {};
  SCICreateSegment(provider.device, &part.segment, number, bytes, nullptr, nullptr,
                   memory == nullptr ? 0 : SCI_FLAG_EMPTY, &error);
  if (error != SCI_ERR_OK) {
    part.segment = nullptr;
    part.number = error == SCI_ERR_SEGMENTID_USED ? number : 0;
    return false;
  }
  if (memory != nullptr) SCIRegisterSegmentMemory(memory, bytes, part.segment, 0, &error);
  if (error == SCI_ERR_OK) SCIPrepareSegment(part.segment, 0, 0, &error);
  if (error == SCI_ERR_OK) {
    part.base = static_cast<std::byte*>(
        SCIMapLocalSegment(part.segment, &part.map, 0, bytes, nullptr, 0, &error));
  }
  if (error == SCI_ERR_OK) SCISetSegmentAvailable(part.segment, 0, 0, &error);
  if (error == SCI_ERR_OK) {
    part.number = number;
    return true;
  }
  remove_part(part);
  return false;
}

void remove_part(LocalPart& part) noexcept {
  sci_error_t error = SCI_ERR_OK;
  if (part.map != nullptr) SCIUnmapSegment(part.map, 0, &error);
  if (part.segment != nullptr) SCIRemoveSegment(part.segment, SCI_FLAG_FORCE_REMOVE, &error);
  part = {};
}

void revoke(const LocalPart& part) noexcept {
  if (part.segment == nullptr) return;
  sci_error_t error = SCI_ERR_OK;
  SCISetSegmentUnavailable(part.segment, 0, SCI_FLAG_FORCE_DISCONNECT, &error);
  SCISetSegmentAvailable(part.segment, 0, 0, &error);
}

RemoteSegment& reach(Provider& provider, std::uint32_t node, std::uint32_t number) {
  const std::uint64_t key = key_of(node, number);
  if (const auto place = provider.remote_segments.find(key);
      place != provider.remote_segments.end()) {
    RemoteSegment& known = *place->second;
    if (known.state != State::ended && known.state != State::failed) return known;
    const bool has_failed = known.state == State::failed;
    discard(provider, known);
    if (has_failed) return *provider.jobs.segments.back();
  }
  auto& segment =
      *provider.remote_segments.emplace(key, std::make_unique<RemoteSegment>()).first->second;
  segment.provider = &provider;
  segment.node = node;
  segment.number = number;
  sci_error_t error = SCI_ERR_OK;
  SCIConnectSegment(provider.device, &segment.segment, node, number, 0, on_event, &segment,
                    SCI_INFINITE_TIMEOUT, SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT,
                    &error);
  if (error != SCI_ERR_OK) {
    segment.segment = nullptr;
    segment.state = State::failed;
  }
  return segment;
}

RemoteSegment* find_reached(const Provider& provider, std::uint32_t node,
                            std::uint32_t number) noexcept {
  const auto place = provider.remote_segments.find(key_of(node, number));
  return place == provider.remote_segments.end() ? nullptr : place->second.get();
}

void discard(Provider& provider, RemoteSegment& segment) {
  const auto place = provider.remote_segments.find(key_of(segment.node, segment.number));
  if (place == provider.remote_segments.end() || place->second.get() != &segment) return;
  provider.jobs.segments.push_back(std::move(place->second));
  provider.remote_segments.erase(place);
  wake_manager(provider);
}

bool is_whole(const RemoteSegment& segment) noexcept {
  sci_error_t error = SCI_ERR_OK;
  const auto status =
      SCICheckSequence(segment.sequence, SCI_FLAG_NO_FLUSH | SCI_FLAG_NO_STORE_BARRIER, &error);
  return error == SCI_ERR_OK && status == SCI_SEQ_OK;
}

bool disconnect(RemoteSegment& segment) noexcept {
  sci_error_t error = SCI_ERR_OK;
  if (segment.sequence != nullptr) SCIRemoveSequence(segment.sequence, 0, &error);
  segment.sequence = nullptr;
  if (segment.map != nullptr) SCIUnmapSegment(segment.map, 0, &error);
  if (error == SCI_ERR_BUSY) return false;
  segment.map = nullptr;
  if (segment.segment != nullptr) SCIDisconnectSegment(segment.segment, 0, &error);
  return error != SCI_ERR_BUSY;
}

}  // namespace fulmar::vipl
