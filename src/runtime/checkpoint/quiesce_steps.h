// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"
#include "runtime/job/job.h"

namespace fulmar::runtime {

/// The steps that the ranks of a job on one node take together before their networks are closed and
/// after a new segment was mapped. They meet in words of the job's segment (wire::RankRecord), because the
/// last messages have to be counted without messages.
///
/// Every rank makes the same calls in the same order. All that wait call `poll` meanwhile, which makes
/// progress or does nothing; they fail with proc_failed where a rank of the job has died, and with `other` where
/// one has left MPI.
///
/// Thread rule: the lock of the library.
class QuiesceSteps {
 public:
  using Poll = std::function<void()>;

  /// `job` outlives this.
  explicit QuiesceSteps(Job& job) noexcept : job_(job) {}
  QuiesceSteps(const QuiesceSteps&) = delete;
  QuiesceSteps& operator=(const QuiesceSteps&) = delete;

  /// The segment is another one, in which nobody has taken a step.
  void restart() noexcept { step_ = 0; }

  /// Returns when `done()` is true.
  [[nodiscard]] base::Error wait(const std::function<bool()>& done, const Poll& poll) const;
  /// Returns when all ranks have come here.
  [[nodiscard]] base::Error meet(const Poll& poll);

  /// A note of a rank that is not 0.
  struct Note {
    std::uint32_t rank = 0;
    std::uint32_t value = 0;
  };
  /// `meet`, and afterwards the note of the lowest rank that has one; value 0: nobody has.
  [[nodiscard]] base::Result<Note> exchange(std::uint32_t own, const Poll& poll);

  /// `meet` after this rank has sent so many markers, and then returns when all that were ever sent have
  /// been taken. `taken`: how many this rank has taken, in the life of the segment.
  [[nodiscard]] base::Error count_markers(std::uint32_t sent,
                                          const std::function<std::uint32_t()>& taken,
                                          const Poll& poll);

 private:
  [[nodiscard]] bool reached(std::uint32_t step) const noexcept;
  /// Whether a rank has died.
  [[nodiscard]] base::Error check_deaths() const;
  [[nodiscard]] base::Error check() const;
  void reach_next(wire::RankRecord& own) noexcept;

  Job& job_;
  std::uint32_t step_ = 0;
};

}  // namespace fulmar::runtime
