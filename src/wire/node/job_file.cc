// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/job_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "wire/node/job.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint64_t smaller(std::uint64_t area_bytes) noexcept {
  return std::max(min_area_bytes, round_up(area_bytes / 2, area_granule));
}

/// Gives the file its size; halves the areas while the limit on file sizes is in the way. Returns
/// the size of an area.
base::Result<std::uint64_t> size_file(int fd, std::uint32_t ranks, std::uint64_t area_bytes) {
  while (true) {
    const std::uint64_t total = total_bytes_for(ranks, area_bytes);
    if (::ftruncate(fd, static_cast<off_t>(total)) == 0) return area_bytes;
    if (errno != EFBIG || area_bytes == min_area_bytes) break;
    area_bytes = smaller(area_bytes);
  }
  const int reason = errno;
  const std::uint64_t total = total_bytes_for(ranks, area_bytes);
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

base::UniqueFd make_memory_file(const char* name) noexcept {
  base::UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL));
  if (fd.valid() || errno != EINVAL) return fd;
  return base::UniqueFd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));  // Linux before 6.3
}

std::uint64_t area_bytes_within(std::uint32_t ranks, std::uint64_t area_bytes,
                                std::uint64_t limit_bytes) noexcept {
  while (area_bytes > min_area_bytes &&
         total_bytes_for(ranks, area_bytes) > limit_bytes / address_space_fraction) {
    area_bytes = smaller(area_bytes);
  }
  return area_bytes;
}

base::Result<JobFile> make_job_file(std::uint32_t ranks, std::uint64_t area_bytes) {
  base::UniqueFd fd = make_memory_file("fulmar-job");
  if (!fd.valid()) {
    return failure(ErrorClass::no_mem,
                   "cannot make memory to share between ranks (memfd_create): %s",
                   std::strerror(errno));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    area_bytes = area_bytes_within(ranks, area_bytes, limit.rlim_cur);
  }
  const auto given = size_file(fd.get(), ranks, area_bytes);
  if (given.failed()) return given.error();
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return failure(ErrorClass::no_mem, "cannot seal the job's shared memory: %s",
                   std::strerror(errno));
  }
  return JobFile{std::move(fd), given.value()};
}

}  // namespace fulmar::wire
