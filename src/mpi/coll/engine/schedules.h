// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "device/device.h"
#include "mpi/coll/choice.h"
#include "mpi/coll/engine/area_queue.h"
#include "mpi/coll/engine/frame_pool.h"

namespace fulmar::mpi {

class CollectiveCall;
class CollContext;
struct Comm;

/// The collective algorithms of a process that are under way: those whose messages are done and
/// that go on with the next progress, and the memory of all. Made by `runtime` with the device.
///
/// Nothing is looked at while algorithms wait: the hook in the device's progress is there only
/// while one is ready. Algorithms that call functions of the user are never resumed by the
/// library's own thread (device/service.h): they wait until the program looks. Needs the lock of
/// the library.
class Schedules : private device::Device::ProgressCallback {
 public:
  Schedules(device::Device& device, const Choices& choices) noexcept;
  ~Schedules();
  Schedules(const Schedules&) = delete;
  Schedules& operator=(const Schedules&) = delete;

  /// What `exchange` waits for is done: it is resumed by the next progress. Any place that holds
  /// the lock, also inside the device.
  void make_ready(CollContext& exchange) noexcept;

  /// Every CollContext of the process, from its beginning to its end.
  void add(CollContext& exchange) noexcept;
  void remove(CollContext& exchange) noexcept;
  /// Ends the algorithms that are under way on `comm`; see CollContext::abandon.
  void abandon(const Comm& comm, base::Error error) noexcept;

  /// What the non-blocking or persistent call that is being made says of itself, if calls are
  /// compared; who makes the request takes it.
  std::unique_ptr<CollectiveCall> announced;

  [[nodiscard]] FramePool& frames() noexcept { return frames_; }
  /// The calls that go over collective areas instead.
  [[nodiscard]] AreaQueues& area_queues() noexcept { return area_queues_; }
  [[nodiscard]] const Choices& choices() const noexcept { return choices_; }

 private:
  static unsigned resume_ready(device::Device::ProgressCallback& hook) noexcept;
  CollContext* take_ready() noexcept;

  device::Device& device_;
  Choices choices_;
  FramePool frames_;
  AreaQueues area_queues_;
  CollContext* first_ = nullptr;
  CollContext** last_ = &first_;
  CollContext* all_ = nullptr;
};

}  // namespace fulmar::mpi
