// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/job.h"

namespace fulmar::mpiexec {

/// Notices that no rank of a job can go on, and explains who waits for whom.
///
/// A rank that waits in MPI writes what for, again each second (wire/wait_record.h). When every
/// rank that is still in MPI has been in the same wait for the set time, the records are noted;
/// when then each of them has looked twice more and is still in the same wait, nothing can have
/// been under way, and the job stands still for good. A rank that computes, sleeps in the program
/// or has not called MPI_Init yet writes nothing: then there is no report, however long the others
/// wait.
class DeadlockWatch {
 public:
  /// `records` must outlive this.
  DeadlockWatch(std::span<const wire::RankRecord> records, std::int64_t timeout_ns)
      : records_(records), timeout_ns_(timeout_ns) {}

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
  std::int64_t timeout_ns_;
  std::vector<Rank> noted_;
  bool reported_ = false;
};

/// Who waits for whom: the text of a report. `left[r]`: rank r is not in MPI any more.
struct Standstill {
  struct Wait {
    std::uint32_t rank;
    wire::WaitBody body;
  };
  std::vector<Wait> waits;  ///< in the order of ranks
  std::vector<bool> left;
  std::int64_t seconds = 0;
};
[[nodiscard]] std::vector<std::string> explain(const Standstill& standstill);

}  // namespace fulmar::mpiexec
