// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/node/job.h"

namespace fulmar::mpiexec {

/// Detects that no rank of a job can continue, and explains which rank waits for which.
///
/// A rank that waits in MPI writes what for, again each second (wire/node/wait_record.h). When every
/// rank that is still in MPI has been in the same wait for the set time, the records are noted;
/// when then each of them has looked twice more and is still in the same wait, nothing can have
/// been under way, and the job stands still for good. A rank that computes, sleeps in the program,
/// is stopped, or has not called MPI_Init yet writes nothing: then there is no report, however long
/// the others wait.
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
  /// `records` must outlive this.
  DeadlockWatch(std::span<const wire::RankRecord> records, Times times)
      : records_(records), times_(times) {}

  /// Looks once; about every second. The lines of a report, or nothing: each standstill is reported
  /// once.
  [[nodiscard]] std::vector<std::string> look(std::int64_t now_ns);

 private:
  struct Rank {
    std::uint32_t number = 0;
    wire::WaitReport wait;
  };

  [[nodiscard]] std::optional<std::vector<Rank>> standing_ranks(std::int64_t now_ns) const;

  std::span<const wire::RankRecord> records_;
  Times times_;
  std::vector<Rank> noted_;
  bool reported_ = false;
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
  std::int64_t seconds = 0;
};
[[nodiscard]] std::vector<std::string> explain(const Standstill& standstill);

}  // namespace fulmar::mpiexec
