// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "sisci/call.h"
#include "sisci/library.h"

namespace fulmar::sisci {

/// Removes the segment, and ends connections to it. SCI_ERR_BUSY while it is used; `forced`: transfers are waited
/// for. Waits for its callback.
enum class Removal : std::uint8_t { polite, forced };
[[nodiscard]] sci_error_t remove_segment(Library& library, LocalSegment& segment, Removal removal);
/// The same for one of another node; posted writes are waited for.
[[nodiscard]] sci_error_t remove_segment(Library& library, RemoteSegment& segment);
/// Removes the map; requires that nothing uses it.
void remove_map(Library& library, Map& map) noexcept;

/// SCIWaitForLocalSegmentEvent, SCIWaitForRemoteSegmentEvent: takes the oldest event.
struct EventWait {
  std::uint32_t timeout_ms;
  unsigned int flags;
};
template <class Segment>
[[nodiscard]] sci_error_t await_event(Library& library, Pool<Segment>& pool, const void* handle,
                                      const EventWait& wanted, Event& event) {
  Segment* const found = pool.find(handle);
  sci_error_t status = first_error(check_flags(wanted.flags, 0), check_parameter(found != nullptr));
  if (status != SCI_ERR_OK) return status;
  if (found->events.uses_callback) return SCI_ERR_ILLEGAL_OPERATION;
  status = wait_for(library, pool, *found, wanted.timeout_ms,
                    [](const Segment& each) { return !each.events.queue.empty(); });
  if (status != SCI_ERR_OK) return status;
  event = found->events.queue.front();
  found->events.queue.pop_front();
  return SCI_ERR_OK;
}

/// For calls that give a value and no error: calls `take(segment)` if the handle is one of the library's.
template <class Segment, class Take>
void look_at(Pool<Segment> Library::* pool, const void* handle, Take&& take) {
  call(nullptr, [&](Library& library) {
    const Segment* const found = (library.*pool).find(handle);
    if (found != nullptr) take(*found);
    return SCI_ERR_OK;
  });
}

}  // namespace fulmar::sisci
