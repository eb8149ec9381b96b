// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "base/os/fd.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {

/// The job's memory file and mpiexec's mapping of its first pages (header and records). The data
/// areas belong to the ranks: mpiexec touches nothing of them but the words on which they sleep. Unmaps and closes at the end;
/// the memory goes when the last rank has gone.
class JobSegment {
 public:
  /// Makes the file: nameless, sealed against any change of its size, descriptor closed on exec.
  /// When the limit on file sizes (RLIMIT_FSIZE) forbids the wanted area size, smaller ones are
  /// tried, down to wire::min_area_bytes. `plan.area_bytes` is the wish. Fails with the limit's
  /// name and value.
  static base::Result<JobSegment> create(wire::JobPlan plan);

  JobSegment(JobSegment&& other) noexcept;
  JobSegment& operator=(JobSegment&&) = delete;
  ~JobSegment();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] wire::JobHeader& header() const noexcept { return *control_.header; }
  [[nodiscard]] std::span<wire::RankRecord> records() const noexcept { return control_.records; }

  /// Gives back the memory of all data areas. Requires that no process uses them any more.
  void discard_areas() const noexcept;

  /// Informs ranks that wait inside MPI that a rank has failed. Wakes those that sleep.
  void announce_failure(std::uint32_t index) const noexcept;
  /// The two parts of that: true for the first caller, and the others look.
  [[nodiscard]] bool mark_failed(std::uint32_t index) const noexcept;
  void wake_others(std::uint32_t index) const noexcept;
  /// Informs ranks that wait inside MPI that the job is over.
  void announce_end() const noexcept;

 private:
  void wake(std::uint32_t rank) const noexcept;
  JobSegment(base::UniqueFd fd, std::span<std::byte> mapping) noexcept;

  base::UniqueFd fd_;
  std::span<std::byte> mapping_;
  wire::JobControl control_;
};

}  // namespace fulmar::mpiexec
