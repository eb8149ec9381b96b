// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>

#include "device/stats/observer.h"
#include "mpi/tool/handle_table.h"

namespace fulmar::mpi {

/// The kinds of elements of an event; `amount` is an MPI_UNSIGNED_LONG_LONG, all others are
/// MPI_INT.
enum class EventField : std::uint8_t { process, tag, traffic, amount };

struct EventElement {
  EventField field;
  const char* name;
};

/// An event type (MPI 5.0 section 15.3.8). The elements are one behind the other in the event's
/// data, each at a multiple of its size.
struct EventType {
  device::Event::Kind kind;
  const char* name;  ///< up to the first _ the name of its category
  int verbosity;
  const char* description;
  std::span<const EventElement> elements;
};

/// All event types.
[[nodiscard]] std::span<const EventType> event_types() noexcept;
/// The offset of element `index` in the data of an event.
[[nodiscard]] std::size_t displacement_of(const EventType& type, std::size_t index) noexcept;

/// An event during its callback. Lives as long as the callback runs.
struct EventInstance {
  const EventType* type = nullptr;
  device::Event happening{};
  std::uint64_t timestamp_ns = 0;
  EventInstance* outer = nullptr;  ///< that of the callback in which this one is called

  /// Writes element `index` to `buffer`.
  void store(std::size_t index, void* buffer) const noexcept;
};

/// An MPI_T_event_registration.
struct EventRegistration {
  struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };
  /// The safety levels of callbacks, from the least demanding on.
  static constexpr std::array<int, 4> levels = {
      MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
      MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

  const EventType* type;
  std::array<Callback, levels.size()> callbacks{};
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  MPI_Count dropped = 0;  ///< since on_dropped was called
  int running = 0;        ///< callbacks
  bool freed = false;     ///< by a callback of its own
  MPI_T_event_free_cb_function* on_free = nullptr;
  void* free_data = nullptr;

  [[nodiscard]] bool listens() const noexcept;
  /// The place of the first callback from `least` on; that behind the last if there is none.
  [[nodiscard]] std::size_t level_from(std::size_t least) const noexcept;
};

/// Registrations and the delivery of events.
///
/// An event happens in the middle of the library, where a callback may call hardly anything: one
/// registered for MPI_T_CB_REQUIRE_MPI_RESTRICTED or more is called there and then. One registered
/// for MPI_T_CB_REQUIRE_NONE alone may call all of MPI; its events wait in a queue until the
/// library is at rest, and are dropped, and counted, when that is full. What happens on the
/// library's own thread is delivered at once only to callbacks that are registered as safe for
/// threads; to all others by the next progress call of the program.
///
/// Thread rule: the lock of the library.
class Events {
 public:
  using Table = HandleTable<EventRegistration, MPI_T_event_registration>;

  Table registrations;

  enum class Where : std::uint8_t { program_thread, own_thread };
  /// Calls the registered callbacks; events that must wait are queued. Returns whether `settle` has
  /// work.
  bool raise(const device::Event& happening, Where where);
  /// Delivers queued events. Callbacks may call everything. Returns whether there are more by now.
  bool settle();
  /// Ends a registration; a callback of its own that runs is let finish first.
  void free(EventRegistration& registration) noexcept;
  void clear() noexcept;
  /// Whether a callback is registered anywhere.
  [[nodiscard]] bool listens() const noexcept;
  /// The event of a callback that runs now; nullptr for anything else.
  [[nodiscard]] const EventInstance* find(MPI_T_event_instance handle) const noexcept;

 private:
  struct Waiting {
    EventRegistration* registration;
    std::size_t level;
    EventInstance instance;
  };
  static constexpr std::size_t most_waiting = 1024;
  // Places in EventRegistration::levels.
  static constexpr std::size_t restricted_level = 1;
  static constexpr std::size_t thread_safe_level = 2;

  void deliver(EventRegistration& registration, std::size_t level, EventInstance& instance,
               int cb_safety);
  void report_dropped(EventRegistration& registration);
  void destroy(EventRegistration& registration) noexcept;

  std::deque<Waiting> waiting_;
  EventInstance* innermost_ = nullptr;
  bool settling_ = false;
};

}  // namespace fulmar::mpi
