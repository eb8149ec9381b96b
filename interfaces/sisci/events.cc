// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What happens to objects reaches the program by callbacks, or waits to be asked for.
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sisci/api.h"
#include "sisci/grants.h"
#include "sisci/landings.h"

namespace fulmar::sisci {
namespace {

/// Makes room: the program does not look at them, and the newest say most.
template <class Segment>
void keep(Segment& segment, const Event& event) {
  auto& events = segment.events;
  if (events.queue.size() >= events.most_queued) events.queue.pop_front();
  events.queue.push_back(event);
}

/// The oldest event, taken, if the callback is to have it.
template <class Segment>
std::optional<Event> take_event(Segment& segment) {
  auto& events = segment.events;
  if (events.callback == nullptr) events.queue.clear();
  if (events.queue.empty()) return std::nullopt;
  const Event event = events.queue.front();
  events.queue.pop_front();
  return event;
}

std::function<int()> take_local(LocalSegment& segment) {
  const auto event = take_event(segment);
  if (!event) return {};
  return [event = *event, &segment, callback = segment.events.callback,
          argument = segment.events.argument] {
    return callback(argument, reinterpret_cast<sci_local_segment_t>(&segment), event.reason,
                    event.node, 0, event.status);
  };
}

std::function<int()> take_remote(RemoteSegment& segment) {
  const auto event = take_event(segment);
  if (!event) return {};
  return [event = *event, &segment, callback = segment.events.callback,
          argument = segment.events.argument] {
    return callback(argument, reinterpret_cast<sci_remote_segment_t>(&segment), event.reason,
                    event.status);
  };
}

std::function<int()> take_trigger(LocalInterrupt& interrupt) {
  if (interrupt.callback == nullptr) interrupt.pending = 0;
  if (interrupt.pending == 0) return {};
  --interrupt.pending;
  return [&interrupt, callback = interrupt.callback, argument = interrupt.argument] {
    return callback(argument, reinterpret_cast<sci_local_interrupt_t>(&interrupt), SCI_ERR_OK);
  };
}

std::function<int()> take_data(LocalDataInterrupt& interrupt) {
  if (interrupt.callback == nullptr) interrupt.queue.clear();
  if (interrupt.queue.empty()) return {};
  auto bytes = std::make_shared<std::vector<std::byte>>(std::move(interrupt.queue.front()));
  interrupt.queue.pop_front();
  return [&interrupt, bytes, callback = interrupt.callback, argument = interrupt.argument] {
    return callback(argument, reinterpret_cast<sci_local_data_interrupt_t>(&interrupt),
                    bytes->data(), static_cast<unsigned int>(bytes->size()), SCI_ERR_OK);
  };
}

LocalDataInterrupt* data_interrupt_of(const Library& library, std::uint32_t number) noexcept {
  for (const auto& [handle, interrupt] : library.data_interrupts.all()) {
    if (interrupt->number == number) return interrupt.get();
  }
  return nullptr;
}

void push_data(Library& library, LocalDataInterrupt& interrupt, std::vector<std::byte> data) {
  interrupt.queue.push_back(std::move(data));
  if (interrupt.uses_callback) {
    call_back(library, library.data_interrupts, interrupt, take_data);
  } else {
    library.port->notify();
  }
}

}  // namespace

void push(Library& library, LocalSegment& segment, Event event) {
  keep(segment, event);
  if (segment.events.uses_callback) {
    call_back(library, library.local_segments, segment, take_local);
  } else {
    library.port->notify();
  }
}

void push(Library& library, RemoteSegment& segment, Event event) {
  keep(segment, event);
  if (segment.events.uses_callback) {
    call_back(library, library.remote_segments, segment, take_remote);
  } else {
    library.port->notify();
  }
}

void trigger(Library& library, LocalInterrupt& interrupt) {
  interrupt.pending = interrupt.is_counting ? interrupt.pending + 1 : 1;
  if (interrupt.uses_callback) {
    call_back(library, library.interrupts, interrupt, take_trigger);
  } else {
    library.port->notify();
  }
}

std::byte* begin_data(Library& library, const Grant& grant, Landing& landing) noexcept {
  const LocalDataInterrupt* const interrupt = data_interrupt_of(library, grant.number);
  landing.status = SCI_ERR_NOT_CONNECTED;
  if (interrupt == nullptr) return nullptr;
  landing.status = SCI_ERR_OUT_OF_RANGE;
  if (landing.request.bytes > SCI_DATA_INTERRUPT_BYTES || landing.request.flags != 0)
    return nullptr;
  landing.status = SCI_ERR_REMOTE_BUSY;
  if (interrupt->queue.size() >= LocalDataInterrupt::most_queued) return nullptr;
  landing.status = SCI_ERR_OK;
  landing.data.resize(landing.request.bytes);
  landing.number = grant.number;
  return landing.data.data();
}

sci_error_t deliver_data(Library& library, Landing& landing) noexcept {
  bool is_taken = false;
  bool is_known = false;
  for (const auto& [handle, interrupt] : library.data_interrupts.all()) {
    if (interrupt->number != landing.number) continue;
    is_known = true;
    if (interrupt->queue.size() >= LocalDataInterrupt::most_queued) continue;
    is_taken = true;
    push_data(library, *interrupt, landing.data);
  }
  if (is_taken) return SCI_ERR_OK;
  return is_known ? SCI_ERR_REMOTE_BUSY : SCI_ERR_NOT_CONNECTED;
}

}  // namespace fulmar::sisci
