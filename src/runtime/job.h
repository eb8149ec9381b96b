// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "fabric/shm/shm.h"
#include "wire/job.h"

namespace fulmar::runtime {

/// The job that this process belongs to: its segment, mapped, and the own place in it. A process
/// that no launcher started is a job of one, with a segment of its own.
class Job {
 public:
  Job() = default;
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Finds the job in the environment (docs/mpiexec.md) and maps its segment: from the inherited
  /// descriptor, or, when a wrapper has closed that, from mpiexec's socket (wire/join.h).
  /// MPI_ERR_OTHER with a text where the environment speaks of a job that cannot be joined, or
  /// where another process is this rank already.
  [[nodiscard]] base::Error join();

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] bool singleton() const noexcept { return singleton_; }
  [[nodiscard]] bool oversubscribed() const noexcept;
  [[nodiscard]] int appnum() const noexcept { return appnum_; }
  [[nodiscard]] std::int32_t mpiexec_pid() const noexcept { return view_.mpiexec_pid; }

  /// Tells mpiexec and the other ranks how far this rank is; nothing for a singleton.
  void set_state(wire::RankState state) noexcept;
  void set_abort_code(int code) noexcept;

  /// The processors that mpiexec bound a rank of the job to, see wire/job.h; empty for one that is
  /// not bound, or partly to processors for which the record has no bits.
  [[nodiscard]] std::span<const std::uint64_t> binding_of(std::uint32_t rank) const noexcept;

  /// Where this rank writes what it waits for. Requires a joined job.
  [[nodiscard]] wire::WaitRecord& wait_record() noexcept { return view_.records[rank_].wait; }

  /// What the shared-memory provider needs of the segment.
  [[nodiscard]] fabric::Shm::Config shm_config();

 private:
  base::Error find_segment(long descriptor);
  base::Error map_segment(int descriptor);
  base::Error take_place(std::uint32_t rank);
  base::Error map_own();

  std::span<std::byte> mapping_;
  wire::JobView view_;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  int appnum_ = 0;
  bool singleton_ = true;
};

}  // namespace fulmar::runtime
