// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/area_queue.h"

#include <algorithm>
#include <utility>

#include "mpi/comm/comm.h"
#include "mpi/library.h"

namespace fulmar::mpi {

AreaQueues::AreaQueues(device::Device& device) noexcept : device_(device) { step = step_all; }

void AreaQueues::add(AreaTask*& first, Comm& comm, AreaTask& task) {
  AreaTask** end = &first;
  while (*end != nullptr) end = &(*end)->next_;
  *end = &task;
  if (first != &task) return;
  const auto is_this = [&](const Queue& queue) { return queue.first == &first; };
  if (std::none_of(busy_.begin(), busy_.end(), is_this)) {
    if (busy_.empty()) device_.add_progress_callback(*this);
    busy_.push_back({&first, &comm});
  }
  Library& library = *comm.library;
  library.acquire(comm);
  (void)advance(first);
  if (first == nullptr && !stepping_) {
    std::erase_if(busy_, is_this);
    if (busy_.empty()) device_.remove_progress_callback(*this);
  }
  library.release(comm);
}

void AreaQueues::wait_until_empty(const Comm& comm) noexcept {
  device_.wait([&]() noexcept { return comm.area_tasks == nullptr; },
               {device::WaitNote::Kind::collective, &comm});
}

void AreaQueues::unlist(const device::ShmCollArea& area) noexcept {
  std::erase_if(request_areas_, [&](const RequestAreaOf& one) { return one.area == &area; });
}

void AreaQueues::fail_areas(const Comm& comm) noexcept {
  for (const RequestAreaOf& one : request_areas_) {
    if (one.comm == &comm) one.area->fail();
  }
}

unsigned AreaQueues::advance(AreaTask*& first) noexcept {
  unsigned moved = 0;
  while (AreaTask* const task = first) {
    if (task->calls_user() && device_.service().polling()) {
      device_.service().need_program();
      break;
    }
    moved += task->advance();
    if (!task->over()) break;
    first = std::exchange(task->next_, nullptr);
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
    const Queue queue = self.busy_[i];
    Library& library = *queue.comm->library;
    library.acquire(*queue.comm);
    moved += self.advance(*queue.first);
    if (*queue.first == nullptr) {
      self.busy_[i] = self.busy_.back();
      self.busy_.pop_back();
    } else {
      ++i;
    }
    library.release(*queue.comm);
  }
  self.stepping_ = false;
  if (self.busy_.empty()) self.device_.remove_progress_callback(self);
  return moved;
}

}  // namespace fulmar::mpi
