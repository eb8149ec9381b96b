// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace fulmar::mpi {

struct Comm;

/// A non-blocking call on the collective area of a communicator, from the call to its last round.
class AreaTask {
 public:
  AreaTask(const AreaTask&) = delete;
  AreaTask& operator=(const AreaTask&) = delete;
  virtual ~AreaTask() = default;

  /// Goes on as far as it can without waiting. Returns the number of steps. Not after `over`.
  virtual unsigned advance() = 0;
  [[nodiscard]] bool over() const noexcept { return over_; }
  /// It is over and has left the queue. May end the object.
  virtual void end() noexcept = 0;
  /// It calls a function of the user, so only threads of the program may advance it.
  [[nodiscard]] bool calls_user() const noexcept { return calls_user_; }

 protected:
  explicit AreaTask(bool calls_user) noexcept : calls_user_(calls_user) {}
  void set_over() noexcept { over_ = true; }

 private:
  friend class AreaQueues;
  AreaTask* next_ = nullptr;
  bool calls_user_;
  bool over_ = false;
};

/// The active non-blocking calls of a process on collective areas: a queue for each communicator,
/// as rounds of an area follow each other. All ranks make the collective calls of a communicator in
/// the same order (MPI 5.0 section 6.1), so they have the same queues, and the first one of a queue
/// never waits for a later one in another rank.
///
/// The first calls of all queues are advanced with every progress of the device; the progress
/// callback is registered only while there are some. A blocking call on the area waits until the
/// queue of its communicator is empty (`wait_until_empty`).
///
/// Thread rule: the lock of the library.
class AreaQueues : private device::Device::ProgressCallback {
 public:
  explicit AreaQueues(device::Device& device) noexcept;
  AreaQueues(const AreaQueues&) = delete;
  AreaQueues& operator=(const AreaQueues&) = delete;

  /// Adds a call, which stays until `AreaTask::end`, and advances it if it is the first one: it may
  /// be over, and ended, when this returns.
  void add(Comm& comm, AreaTask& task);
  void wait_until_empty(const Comm& comm) noexcept;

 private:
  static unsigned step_all(device::Device::ProgressCallback& hook) noexcept;
  unsigned advance(Comm& comm) noexcept;

  device::Device& device_;
  std::vector<Comm*> busy_;  ///< communicators with queued calls
  bool stepping_ = false;    ///< `step_all` goes through `busy_`
};

}  // namespace fulmar::mpi
