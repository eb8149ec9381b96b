// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/job_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "base/futex.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace fulmar::mpiexec {
namespace {

using base::ErrorClass;
using base::failure;

base::UniqueFd make_memory_file() {
  constexpr const char* name = "fulmar-job";
  base::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (fd.valid() || errno != EINVAL) return fd;
  return base::UniqueFd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));  // Linux before 6.3
}

/// Gives the file its size; halves the areas while the limit on file sizes is in the way. Returns
/// the size of an area.
base::Result<std::uint64_t> size_file(int fd, std::uint32_t ranks, std::uint64_t area_bytes) {
  while (true) {
    const std::uint64_t total = wire::total_bytes_for(ranks, area_bytes);
    if (::ftruncate(fd, static_cast<off_t>(total)) == 0) return area_bytes;
    if (errno != EFBIG || area_bytes == wire::min_area_bytes) break;
    area_bytes = std::max(wire::min_area_bytes, wire::round_up(area_bytes / 2, wire::area_granule));
  }
  const int reason = errno;
  const std::uint64_t total = wire::total_bytes_for(ranks, area_bytes);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  if (reason == EFBIG) {
    return failure(ErrorClass::no_mem,
                   "the memory shared by %u ranks needs a file of %llu KiB, but RLIMIT_FSIZE "
                   "(ulimit -f) is %llu KiB; raise that limit or start fewer ranks",
                   ranks, static_cast<unsigned long long>(total >> 10),
                   static_cast<unsigned long long>(limit.rlim_cur >> 10));
  }
  return failure(ErrorClass::no_mem, "cannot make %llu KiB of shared memory for %u ranks: %s",
                 static_cast<unsigned long long>(total >> 10), ranks, std::strerror(reason));
}

}  // namespace

base::Result<JobSegment> JobSegment::create(wire::JobPlan plan) {
  base::UniqueFd fd = make_memory_file();
  if (!fd.valid()) {
    return failure(ErrorClass::no_mem,
                   "cannot make memory to share between ranks (memfd_create): %s",
                   std::strerror(errno));
  }
  const auto area_bytes = size_file(fd.get(), plan.rank_count, plan.area_bytes);
  if (area_bytes.failed()) return area_bytes.error();
  plan.area_bytes = area_bytes.value();

  const std::size_t control_bytes = wire::control_bytes_for(plan.rank_count);
  void* start = ::mmap(nullptr, control_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (start == MAP_FAILED) {
    return failure(ErrorClass::no_mem, "cannot map %zu bytes of the job's shared memory: %s",
                   control_bytes, std::strerror(errno));
  }
  JobSegment segment(std::move(fd), {static_cast<std::byte*>(start), control_bytes});
  if (::fcntl(segment.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failure(ErrorClass::no_mem, "cannot seal the job's shared memory: %s",
                   std::strerror(errno));
  }
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

void JobSegment::announce_end() const noexcept {
  header().abort.store(static_cast<std::uint32_t>(wire::JobAbort::ending),
                       std::memory_order_release);
  base::futex_wake(header().abort, INT_MAX, base::FutexScope::shared);
  base::futex_wake(header().barrier_round, INT_MAX, base::FutexScope::shared);
}

}  // namespace fulmar::mpiexec
