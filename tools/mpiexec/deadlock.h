// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/launch/launch_message.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {

/// Watches the ranks of one job (of one generation), whether all of them wait, and what for.
///
/// A rank that waits in MPI writes what for, again each second (wire/node/wait_record.h). When every
/// rank that is still in MPI has been in the same wait for the set time, the records are noted;
/// when then each of them has looked twice more and is still in the same wait, nothing can have
/// been under way: only a process of another job can end these waits (deadlock_finder.h). A rank that
/// computes, sleeps in the program, is stopped, or has not called MPI_Init yet writes nothing: then the
/// job moves, however long the others wait.
///
/// A rank that calls MPI_Test or MPI_Probe again and again may do so while it also waits for input
/// or another network, which cannot be seen from here. Where a rank does, another, longer time
/// counts.
class DeadlockWatch {
 public:
  struct Times {
    std::int64_t blocked_ns = 0;  ///< where all ranks are in calls that block
    std::int64_t polled_ns = 0;   ///< where some call MPI_Test or MPI_Iprobe in a loop
  };
  /// `records` must outlive this; `job` is the job's id.
  DeadlockWatch(std::span<const wire::RankRecord> records, std::uint32_t job, Times times)
      : records_(records), times_(times) {
    stillness_.job = job;
  }

  /// Looks once; about every second. Valid until the next time.
  const wire::JobStillness& look(std::int64_t now_ns);

 private:
  struct Rank {
    std::uint32_t number = 0;
    wire::WaitReport wait;
  };

  [[nodiscard]] std::optional<std::vector<Rank>> ranks_in_mpi() const;
  [[nodiscard]] bool have_waited_long(const std::vector<Rank>& ranks, std::int64_t now_ns) const;
  void describe();
  [[nodiscard]] std::vector<std::string> explain_waits() const;

  std::span<const wire::RankRecord> records_;
  Times times_;
  wire::JobStillness stillness_;
  std::vector<Rank> noted_;    ///< with the beats at `begun_ns_`
  std::int64_t begun_ns_ = 0;  ///< since then each rank is to look twice
};

/// Whether, and how, a rank has gone for good.
enum class Departure : std::uint8_t {
  none,          ///< it is in MPI, or may yet call MPI_Init
  finalized,     ///< it has called MPI_Finalize
  never_joined,  ///< its process has ended without calling MPI_Init
};

/// The wait-for relations, and the text of a report.
struct Standstill {
  struct Wait {
    std::uint32_t rank;
    wire::WaitBody body;
  };
  std::vector<Wait> waits;            ///< in the order of ranks
  std::vector<Departure> departures;  ///< of each rank of the job
};
/// Lines that begin with "mpiexec:   ".
[[nodiscard]] std::vector<std::string> explain(const Standstill& standstill);

}  // namespace fulmar::mpiexec
