// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/area_queue.h"

#include <algorithm>

#include "mpi/comm/comm.h"
#include "mpi/library.h"

namespace fulmar::mpi {

AreaQueues::AreaQueues(device::Device& device) noexcept : device_(device) { step = step_all; }

void AreaQueues::add(Comm& comm, AreaTask& task) {
  AreaTask** end = &comm.area_tasks;
  while (*end != nullptr) end = &(*end)->next_;
  *end = &task;
  if (comm.area_tasks != &task) return;
  if (std::find(busy_.begin(), busy_.end(), &comm) == busy_.end()) {
    if (busy_.empty()) device_.add_progress_callback(*this);
    busy_.push_back(&comm);
  }
  Library& library = *comm.library;
  library.acquire(comm);
  (void)advance(comm);
  if (comm.area_tasks == nullptr && !stepping_) {
    std::erase(busy_, &comm);
    if (busy_.empty()) device_.remove_progress_callback(*this);
  }
  library.release(comm);
}

void AreaQueues::wait_until_empty(const Comm& comm) noexcept {
  device_.wait([&]() noexcept { return comm.area_tasks == nullptr; },
               {device::WaitNote::Kind::collective, &comm});
}

unsigned AreaQueues::advance(Comm& comm) noexcept {
  unsigned moved = 0;
  while (AreaTask* const task = comm.area_tasks) {
    if (task->calls_user() && device_.service().polling()) {
      device_.service().need_program();
      break;
    }
    moved += task->advance();
    if (!task->over()) break;
    comm.area_tasks = task->next_;
    ++moved;
    task->end();
  }
  return moved;
}

/// Calls that end may free communicators, and may make calls, which are appended.
unsigned AreaQueues::step_all(device::Device::ProgressCallback& hook) noexcept {
  auto& self = static_cast<AreaQueues&>(hook);
  unsigned moved = 0;
  self.stepping_ = true;
  for (std::size_t i = 0; i < self.busy_.size();) {
    Comm& comm = *self.busy_[i];
    Library& library = *comm.library;
    library.acquire(comm);
    moved += self.advance(comm);
    if (comm.area_tasks == nullptr) {
      self.busy_[i] = self.busy_.back();
      self.busy_.pop_back();
    } else {
      ++i;
    }
    library.release(comm);
  }
  self.stepping_ = false;
  if (self.busy_.empty()) self.device_.remove_progress_callback(self);
  return moved;
}

}  // namespace fulmar::mpi
