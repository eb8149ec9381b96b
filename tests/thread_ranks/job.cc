// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "thread_ranks/job.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "mpi/request/request.h"
#include "runtime/library_access.h"

namespace thread_ranks {
namespace {

using fulmar::mpi::ObjectKind;

void abort_job(void* /*context*/, int code) {
  std::fprintf(stderr, "the job was aborted with %d\n", code);
  std::abort();
}

fulmar::mpi::Choices default_choices() {
  std::vector<std::string> complaints;
  return fulmar::mpi::Choices("", complaints);
}

/// Each rank is one thread.
fulmar::base::EngineLock& switched_off(fulmar::base::EngineLock& lock) {
  lock.set_enabled(false);
  return lock;
}

}  // namespace

Rank::Rank(fulmar::device::NodeAreas& areas, std::uint32_t self, std::uint32_t size)
    : errors_(library_, {abort_job, nullptr}),
      keyvals_(library_),
      info_(library_),
      group_(library_),
      datatypes_(library_),
      ops_(library_),
      device_(areas.config_of(self), switched_off(library_.lock)),
      recovery_(library_, device_),
      schedules_(device_, default_choices()),
      world_(library_, device_, self, size) {
  areas.give(device_, self);
  library_.device = &device_;
  library_.schedules = &schedules_;
  library_.recovery = &recovery_;
  library_.world = &world_;
  errors_.rank = static_cast<int>(self);
  errors_.size = static_cast<int>(size);
  library_.define(world_.world, reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD));
  library_.define(world_.self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  live_at_start_ = live();
}

Rank::~Rank() {
  library_.undefine(world_.world.handle);
  library_.undefine(world_.self.handle);
  delete static_cast<fulmar::mpi::Request*>(library_.done_request);
}

void Rank::run(const std::function<void(int)>& program) {
  fulmar::runtime::usable_library.store(&library_, std::memory_order_relaxed);
  program(errors_.rank);
  device_.drain();
  fulmar::runtime::usable_library.store(nullptr, std::memory_order_relaxed);
}

std::array<std::size_t, fulmar::mpi::object_kind_count> Rank::live() const {
  std::array<std::size_t, fulmar::mpi::object_kind_count> counts{};
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    counts[kind] = library_.live(static_cast<ObjectKind>(kind));
  }
  return counts;
}

std::string Rank::leftovers() const {
  const auto now = live();
  std::string text;
  for (std::size_t kind = 0; kind < now.size(); ++kind) {
    if (now[kind] == live_at_start_[kind]) continue;
    text += "rank " + std::to_string(errors_.rank) + " has left " +
            std::to_string(now[kind] - live_at_start_[kind]) + " objects of kind " +
            std::to_string(kind) + "\n";
  }
  return text;
}

std::string run_job(std::uint32_t size, const std::function<void(int)>& program) {
  fulmar::device::NodeAreas areas(size);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::uint32_t self = 0; self < size; ++self) {
    ranks.push_back(std::make_unique<Rank>(areas, self, size));
  }
  std::vector<std::thread> threads;
  threads.reserve(size);
  for (const auto& rank : ranks) threads.emplace_back([&] { rank->run(program); });
  for (std::thread& thread : threads) thread.join();
  std::string left;
  for (const auto& rank : ranks) left += rank->leftovers();
  return left;
}

}  // namespace thread_ranks
