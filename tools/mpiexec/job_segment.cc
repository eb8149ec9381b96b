// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/job_segment.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/os/futex.h"
#include "wire/node/job_file.h"
#include "wire/node/shm_area.h"

namespace fulmar::mpiexec {

base::Result<JobSegment> JobSegment::create(wire::JobPlan plan) {
  auto file = wire::make_job_file(plan.rank_count, plan.area_bytes);
  if (file.failed()) return file.error();
  plan.area_bytes = file->area_bytes;

  const std::size_t control_bytes = wire::control_bytes_for(plan.rank_count);
  void* start =
      ::mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd.get(), 0);
  if (start == MAP_FAILED) {
    return base::failure(base::ErrorClass::no_mem,
                         "cannot map %zu bytes of the job's shared memory: %s", control_bytes,
                         std::strerror(errno));
  }
  // The process of a spawned job is forked from this one, and must not keep this job's memory.
  (void)::madvise(start, control_bytes, MADV_DONTFORK);
  JobSegment segment(std::move(file->fd), {static_cast<std::byte*>(start), control_bytes});
  auto control = wire::format_job(segment.mapping_, plan);
  if (control.failed()) return control.error();
  segment.control_ = control.value();
  return segment;
}

JobSegment::JobSegment(base::UniqueFd fd, std::span<std::byte> mapping) noexcept
    : fd_(std::move(fd)), mapping_(mapping) {}

JobSegment::JobSegment(JobSegment&& other) noexcept
    : fd_(std::move(other.fd_)),
      mapping_(std::exchange(other.mapping_, {})),
      control_(std::exchange(other.control_, {})) {}

JobSegment::~JobSegment() {
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

void JobSegment::discard_areas() const noexcept {
  const auto offset = static_cast<off_t>(header().areas_offset);
  const auto end = static_cast<off_t>(header().total_bytes);
  // Where the file system cannot, the memory stays until the last wrapper has ended.
  (void)::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, end - offset);
}

bool JobSegment::mark_failed(std::uint32_t index) const noexcept {
  return wire::mark_failed(header(), records()[index]);
}

/// Only a rank that has entered MPI and has not ended can sleep. To look at the areas of all ranks would
/// take quadratic time where many end, and give each area a page.
void JobSegment::wake_others(std::uint32_t index) const noexcept {
  // Who takes its record after this look sees the failure before it sleeps.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t rank = 0; rank < records().size(); ++rank) {
    const wire::RankRecord& record = records()[rank];
    const bool in_mpi = record.taken.load(std::memory_order_acquire) != 0 &&
                        wire::state_of(record) != wire::RankState::exited;
    if (rank != index && in_mpi) wake(rank);
  }
}

void JobSegment::announce_failure(std::uint32_t index) const noexcept {
  if (mark_failed(index)) wake_others(index);
}

/// Ranks that sleep on a socket check it within a second.
void JobSegment::wake(std::uint32_t rank) const noexcept {
  const std::uint64_t at = header().areas_offset + std::uint64_t{rank} * header().area_bytes;
  void* area = ::mmap(nullptr, wire::area_granule, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(),
                      static_cast<off_t>(at));
  if (area == MAP_FAILED) return;
  auto& asleep = static_cast<wire::AreaControl*>(area)->asleep;
  const auto how = static_cast<wire::Asleep>(asleep.load(std::memory_order_acquire));
  if (how == wire::Asleep::on_word || how == wire::Asleep::helper_on_word) {
    asleep.store(0, std::memory_order_release);
    base::futex_wake(asleep, 1, base::FutexScope::shared);
  }
  ::munmap(area, wire::area_granule);
}

void JobSegment::announce_end() const noexcept {
  wire::mark_end(header(), records());
  base::futex_wake(header().abort, INT_MAX, base::FutexScope::shared);
  base::futex_wake(header().barrier_round, INT_MAX, base::FutexScope::shared);
}

}  // namespace fulmar::mpiexec
