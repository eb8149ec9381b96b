// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "device/device.h"
#include "mpi/coll/choice.h"
#include "mpi/coll/engine/frame_pool.h"

namespace fulmar::mpi {

class CollectiveCall;
class Exchange;
struct Comm;

/// The collective algorithms of a process that are under way: those whose messages are done and
/// that go on with the next progress, and the memory of all. Made by `runtime` with the device.
///
/// Nothing is looked at while algorithms wait: the hook in the device's progress is there only
/// while one is ready. Algorithms that call functions of the user are never resumed by the
/// library's own thread (device/service.h): they wait until the program looks. Needs the lock of
/// the library.
class Schedules : private device::Device::Hook {
 public:
  Schedules(device::Device& device, const Choices& choices) noexcept;
  ~Schedules();
  Schedules(const Schedules&) = delete;
  Schedules& operator=(const Schedules&) = delete;

  /// What `exchange` waits for is done: it is resumed by the next progress. Any place that holds
  /// the lock, also inside the device.
  void make_ready(Exchange& exchange) noexcept;

  /// Every Exchange of the process, from its beginning to its end.
  void add(Exchange& exchange) noexcept;
  void remove(Exchange& exchange) noexcept;
  /// Ends the algorithms that are under way on `comm`; see Exchange::abandon.
  void abandon(const Comm& comm, base::Error error) noexcept;

  /// What the non-blocking or persistent call that is being made says of itself, if calls are
  /// compared; who makes the request takes it.
  std::unique_ptr<CollectiveCall> announced;

  [[nodiscard]] FramePool& frames() noexcept { return frames_; }
  [[nodiscard]] const Choices& choices() const noexcept { return choices_; }

 private:
  static unsigned resume_ready(device::Device::Hook& hook) noexcept;
  Exchange* take_ready() noexcept;

  device::Device& device_;
  Choices choices_;
  FramePool frames_;
  Exchange* first_ = nullptr;
  Exchange** last_ = &first_;
  Exchange* all_ = nullptr;
};

}  // namespace fulmar::mpi
