// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace fulmar::mpi {

struct Comm;

/// A non-blocking or persistent call on a collective area, from its start to its last round.
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
  /// Of a persistent call, before each start.
  void begin() noexcept { over_ = false; }

 private:
  friend class AreaQueues;
  AreaTask* next_ = nullptr;
  bool calls_user_;
  bool over_ = false;
};

/// The active non-blocking and persistent calls of a process on collective areas: a queue for each
/// area, as rounds of an area follow each other. All ranks make the non-blocking calls of a
/// communicator in the same order (MPI 5.0 section 6.1), so they have the same queues, and the
/// first one of a queue never waits for a later one in another rank. A persistent request has an
/// area of its own (mpi/coll/shm/request_area.h), and is the only one in its queue.
///
/// The first calls of all queues are advanced with every progress of the device; the progress
/// callback is registered only while there are some. A blocking call waits until the queue of its
/// communicator is empty (`wait_until_empty`).
///
/// Thread rule: the lock of the library.
class AreaQueues : private device::Device::ProgressCallback {
 public:
  explicit AreaQueues(device::Device& device) noexcept;
  AreaQueues(const AreaQueues&) = delete;
  AreaQueues& operator=(const AreaQueues&) = delete;

  /// Adds a call on `comm` to a queue whose first call is `first`, null where it is empty:
  /// Comm::area_tasks, or that of a RequestArea. The call stays until `AreaTask::end`. Advances it
  /// if it is the first one: it may be over, and ended, when this returns.
  void add(AreaTask*& first, Comm& comm, AreaTask& task);
  void wait_until_empty(const Comm& comm) noexcept;

  /// The areas of persistent requests, which own them.
  void list(const Comm& comm, device::ShmCollArea& area) {
    request_areas_.push_back({&comm, &area});
  }
  void unlist(const device::ShmCollArea& area) noexcept;
  /// No call on the areas of the requests of `comm` can be completed any more.
  void fail_areas(const Comm& comm) noexcept;

 private:
  /// One with calls.
  struct Queue {
    AreaTask** first;
    Comm* comm;
  };

  static unsigned step_all(device::Device::ProgressCallback& hook) noexcept;
  unsigned advance(AreaTask*& first) noexcept;

  struct RequestAreaOf {
    const Comm* comm;
    device::ShmCollArea* area;
  };

  device::Device& device_;
  std::vector<Queue> busy_;
  std::vector<RequestAreaOf> request_areas_;
  bool stepping_ = false;  ///< `step_all` goes through `busy_`
};

}  // namespace fulmar::mpi
