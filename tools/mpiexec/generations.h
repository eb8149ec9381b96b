// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "base/error.h"
#include "mpiexec/job_segment.h"
#include "mpiexec/sessions.h"
#include "wire/node/join.h"

namespace fulmar::mpiexec {

/// Gives a plan a new job id and key. Fails (other) when the kernel has no random numbers.
[[nodiscard]] base::Error draw_identity(wire::JobPlan& plan);

/// The segments of a job, one for each generation. A rank whose wrapper runs one MPI program after
/// the other (`sh -c './a; ./b'`), or that executes another one after MPI_Finalize, moves on to the
/// next generation with each. Programs of different generations share no memory, no job key and no
/// addresses, so ranks may be any number of programs ahead of others.
class Generations {
 public:
  /// Writes into the records of a new segment what is known of the ranks before they run.
  using Fill = std::function<void(std::span<wire::RankRecord> records)>;

  /// `first` is the segment that ranks inherit, `plan` the one it was made from, `roster` outlives
  /// this. Records of `first` are filled here.
  Generations(JobSegment first, const wire::JobPlan& plan, const Roster& roster, Fill fill);

  [[nodiscard]] std::uint32_t rank_count() const {
    return static_cast<std::uint32_t>(ranks_.size());
  }
  [[nodiscard]] const JobSegment& first() const { return segments_.begin()->second; }
  /// The record of a rank in its present generation. Requires rank < ranks of the job; valid until
  /// the rank moves on.
  [[nodiscard]] wire::RankRecord& record(std::uint32_t rank) const {
    return segments_.at(ranks_[rank].generation).records()[rank];
  }

  /// What process `asker` gets that asks to be `rank`.
  struct Answer {
    wire::JoinStep step = wire::JoinStep::refused;
    int fd = -1;          ///< with `granted`; belongs to this
    pid_t holder = 0;     ///< see wire::JoinMessage
    base::Error error{};  ///< why there is no segment
  };
  [[nodiscard]] Answer admit(std::uint32_t rank, pid_t asker);

  /// The process that was started as this rank has ended: nothing joins as this rank any more. If it
  /// had not left MPI in its present generation, it has failed there; in later ones it is missing,
  /// which is the same to the others.
  void mark_ended(std::uint32_t rank);
  /// Informs ranks that wait inside MPI for this rank, in its present generation or a later one, that it has
  /// failed.
  void announce_failure(std::uint32_t rank) const noexcept;
  /// Informs ranks that wait inside MPI that the job is over.
  void announce_end() const noexcept;

  /// Calls visit(generation, segment) for those that are in use.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [generation, segment] : segments_) visit(generation, segment);
  }

 private:
  struct Rank {
    std::uint32_t generation = 0;
    bool ended = false;
  };

  [[nodiscard]] base::Error make(std::uint32_t generation);
  void release_unused();

  wire::JobPlan plan_;
  const Roster& roster_;
  Fill fill_;
  std::vector<Rank> ranks_;
  std::map<std::uint32_t, JobSegment> segments_;  ///< the first one stays until the end
};

}  // namespace fulmar::mpiexec
