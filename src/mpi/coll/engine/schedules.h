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

/// The active collective algorithms of a process: the list of those whose messages are done, which
/// the next progress call resumes, and the memory of all. Made by `runtime` with the device.
///
/// Waiting algorithms cost nothing: the progress callback of the device is registered only while
/// one is ready. Algorithms that call functions of the user are never resumed by the library's own
/// thread (device/service.h), but by the program's next progress call. Thread rule: the lock of the
/// library.
class Schedules : private device::Device::ProgressCallback {
 public:
  Schedules(device::Device& device, const Choices& choices) noexcept;
  ~Schedules();
  Schedules(const Schedules&) = delete;
  Schedules& operator=(const Schedules&) = delete;

  /// The messages that `exchange` waits for are done: the next progress call resumes it. May be
  /// called wherever the lock is held, also inside the device.
  void make_ready(CollContext& exchange) noexcept;

  /// Every CollContext of the process, from its beginning to its end.
  void add(CollContext& exchange) noexcept;
  void remove(CollContext& exchange) noexcept;
  /// Ends the algorithms that are active on `comm`; see CollContext::abandon.
  void abandon(const Comm& comm, base::Error error) noexcept;
  /// The same, also of those on the temporary communicators with which some members of `comm` make
  /// one of theirs: they have its context, with other bits for the kind of message.
  void abandon_revoked(const Comm& comm, base::Error error) noexcept;

  /// The description of the non-blocking or persistent call that is being made, if calls are
  /// compared; the function that makes the request takes it.
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
