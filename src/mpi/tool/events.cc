// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/tool/events.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "mpi/comm/comm.h"

namespace fulmar::mpi {
namespace {

using device::Event;
using Kind = Event::Kind;

constexpr EventElement message_elements[] = {{EventField::process, "process"},
                                             {EventField::tag, "tag"},
                                             {EventField::traffic, "traffic"},
                                             {EventField::amount, "bytes"}};
constexpr EventElement memory_elements[] = {{EventField::process, "process"},
                                            {EventField::amount, "bytes in use"}};
constexpr EventElement process_elements[] = {{EventField::process, "process"}};
constexpr EventElement sleep_elements[] = {{EventField::amount, "nanoseconds"}};

constexpr EventType types[] = {
    {Kind::unexpected, "match_unexpected_message", MPI_T_VERBOSITY_USER_BASIC,
     "A message arrived before its receive. Elements: rank of the sender in the job, tag, whose "
     "message it is (0: of the program, 1: of a collective call, 2: of a call that makes a "
     "communicator), length in bytes.",
     message_elements},
    {Kind::rendezvous, "device_rendezvous_start", MPI_T_VERBOSITY_USER_BASIC,
     "A long message was announced to its receiver. Elements as those of match_unexpected_message, "
     "with the rank of the receiver.",
     message_elements},
    {Kind::streamed, "device_streamed_message", MPI_T_VERBOSITY_TUNER_DETAIL,
     "A long message that was matched comes through the ring. Elements as those of "
     "match_unexpected_message.",
     message_elements},
    {Kind::sender_held, "device_sender_held", MPI_T_VERBOSITY_USER_DETAIL,
     "The memory for unexpected messages is used up and a sender was told to keep its messages. "
     "Elements: its rank in the job, bytes in use.",
     memory_elements},
    {Kind::sender_released, "device_sender_released", MPI_T_VERBOSITY_USER_DETAIL,
     "There is memory again and a sender may send what it kept. Elements: its rank in the job, "
     "bytes in use.",
     memory_elements},
    {Kind::must_hold, "device_hold_begin", MPI_T_VERBOSITY_USER_DETAIL,
     "A receiver told this process to keep its messages. Element: its rank in the job.",
     process_elements},
    {Kind::may_go, "device_hold_end", MPI_T_VERBOSITY_USER_DETAIL,
     "A receiver takes messages again. Element: its rank in the job.", process_elements},
    {Kind::slept, "device_slept", MPI_T_VERBOSITY_TUNER_DETAIL,
     "A waiting call slept until now. Element: how many nanoseconds.", sleep_elements},
};

constexpr std::size_t size_of(EventField field) noexcept {
  return field == EventField::amount ? sizeof(unsigned long long) : sizeof(int);
}

int traffic_of(std::uint32_t context) noexcept {
  if ((context & Comm::collective_bit) != 0) return 1;
  return (context & Comm::creation_bit) != 0 ? 2 : 0;
}

}  // namespace

std::span<const EventType> event_types() noexcept { return types; }

std::size_t displacement_of(const EventType& type, std::size_t index) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    const std::size_t size = size_of(type.elements[i].field);
    at = (at + size - 1) / size * size;
    if (i == index) return at;
    at += size;
  }
}

void EventInstance::store(std::size_t index, void* buffer) const noexcept {
  const auto write = [&](auto value) { std::memcpy(buffer, &value, sizeof value); };
  switch (type->elements[index].field) {
    case EventField::process:
      return write(static_cast<int>(happening.key.peer));
    case EventField::tag:
      return write(static_cast<int>(happening.key.tag));
    case EventField::traffic:
      return write(traffic_of(happening.key.context));
    case EventField::amount:
      return write(static_cast<unsigned long long>(happening.amount));
  }
}

bool EventRegistration::listens() const noexcept {
  return std::any_of(callbacks.begin(), callbacks.end(),
                     [](const Callback& callback) { return callback.function != nullptr; });
}

std::size_t EventRegistration::level_from(std::size_t least) const noexcept {
  std::size_t level = least;
  while (level < callbacks.size() && callbacks[level].function == nullptr) ++level;
  return level;
}

bool Events::listens() const noexcept {
  const auto& all = registrations.live();
  return std::any_of(all.begin(), all.end(),
                     [](const EventRegistration* each) { return each->listens(); });
}

const EventInstance* Events::find(MPI_T_event_instance handle) const noexcept {
  const EventInstance* at = innermost_;
  while (at != nullptr &&
         reinterpret_cast<std::uintptr_t>(at) != reinterpret_cast<std::uintptr_t>(handle)) {
    at = at->outer;
  }
  return at;
}

bool Events::raise(const Event& happening, Where where) {
  const std::uint64_t now = base::now_ns();
  const std::size_t least = where == Where::own_thread ? thread_safe_level : restricted_level;
  // A copy: callbacks may free their registrations.
  const std::vector<EventRegistration*> all = registrations.live();
  for (EventRegistration* each : all) {
    if (each->type->kind != happening.kind || each->freed) continue;
    EventInstance instance{each->type, happening, now, nullptr};
    std::size_t level = each->level_from(least);
    if (level < each->callbacks.size()) {
      deliver(*each, level, instance, EventRegistration::levels[least]);
      continue;
    }
    level = each->level_from(restricted_level);
    if (level == each->callbacks.size()) level = each->level_from(0);
    if (level == each->callbacks.size()) continue;
    if (waiting_.size() < most_waiting) {
      waiting_.push_back({each, level, instance});
    } else {
      ++each->dropped;
    }
  }
  return !waiting_.empty();
}

bool Events::settle() {
  if (settling_) return false;
  settling_ = true;
  // Events caused by the callbacks are delivered next time.
  for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty(); --left) {
    Waiting next = waiting_.front();
    waiting_.pop_front();
    deliver(*next.registration, next.level, next.instance, EventRegistration::levels[next.level]);
  }
  const std::vector<EventRegistration*> all = registrations.live();
  for (EventRegistration* each : all) report_dropped(*each);
  settling_ = false;
  return !waiting_.empty();
}

void Events::deliver(EventRegistration& registration, std::size_t level, EventInstance& instance,
                     int cb_safety) {
  const EventRegistration::Callback callback = registration.callbacks[level];
  if (callback.function == nullptr) return;
  instance.outer = innermost_;
  innermost_ = &instance;
  ++registration.running;
  callback.function(reinterpret_cast<MPI_T_event_instance>(&instance),
                    registrations.handle_of(registration), static_cast<MPI_T_cb_safety>(cb_safety),
                    callback.user_data);
  --registration.running;
  innermost_ = instance.outer;
  if (registration.freed && registration.running == 0) destroy(registration);
}

void Events::report_dropped(EventRegistration& registration) {
  if (registration.dropped == 0 || registration.on_dropped == nullptr || registration.freed) return;
  const MPI_Count count = registration.dropped;
  registration.dropped = 0;
  ++registration.running;
  registration.on_dropped(count, registrations.handle_of(registration), 0, MPI_T_CB_REQUIRE_NONE,
                          registration.callbacks[0].user_data);
  --registration.running;
  if (registration.freed && registration.running == 0) destroy(registration);
}

void Events::free(EventRegistration& registration) noexcept {
  registration.freed = true;
  std::erase_if(waiting_, [&](const Waiting& each) { return each.registration == &registration; });
  if (registration.running == 0) destroy(registration);
}

void Events::destroy(EventRegistration& registration) noexcept {
  if (registration.on_free != nullptr) {
    registration.on_free(registrations.handle_of(registration), MPI_T_CB_REQUIRE_NONE,
                         registration.free_data);
  }
  registrations.free(registration);
}

void Events::clear() noexcept {
  waiting_.clear();
  const std::vector<EventRegistration*> all = registrations.live();
  for (EventRegistration* each : all) {
    if (!each->freed) free(*each);
  }
}

}  // namespace fulmar::mpi
