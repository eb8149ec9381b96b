// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <vector>

#include "mpi/io/collective/collective.h"
#include "mpi/io/collective/window_job.h"
#include "mpi/io/view/run_list.h"

// Collective access in two phases
// -------------------------------
// Where the data of several ranks are interleaved in the file, in short runs, each rank alone
// would make a system call for each run. Instead some ranks, the *aggregators*, each take a
// part of the file (its *domain*), of which they read or write one *window* after the other by
// large calls, and exchange the data with the ranks that want or have them. The file
// operation of one window overlaps with the exchange of the next one.
//
// An aggregator writes exactly the bytes that ranks have given it: gaps are neither read nor
// written back, so concurrent writes of others there are not undone. Where ranks give the same
// byte, the highest rank counts, in every window.
//
// For each window a rank that has data in it sends a header with its *runs*: pieces of equal length
// at equal distances, which most views are made of. Longer lists follow in a second message, and
// then the data. Whether a rank has something to say of a window follows from the first and last
// byte of its access, which all ranks know: no message is sent for nothing.

namespace fulmar::mpi {

/// The access of a rank, as the others know it.
struct RankPart {
  std::int64_t first = 0;  ///< in the file; as `end`, where there are bytes
  std::int64_t end = 0;
  std::int64_t bytes = 0;
  std::int64_t mean_run_bytes = 0;
  std::int32_t failed = 0;    ///< not 0: this rank cannot take part
  std::int32_t backward = 0;  ///< not 0: the view of this rank is not forward
};

/// The roles of the ranks in a collective access: the same in every rank.
struct TwoPhasePlan {
  Extent whole{0, 0};
  Count domain_bytes = 0;
  Count window_bytes = 0;
  int aggregators = 0;
  Count rounds = 0;

  TwoPhasePlan(std::span<const RankPart> parts, const CommonCourse& course,
               int most_aggregators) noexcept;
  /// Window number `round` of an aggregator; may be empty.
  [[nodiscard]] Extent window(int aggregator, Count round) const noexcept;
};

/// Whether no call can be worth an exchange, by what all ranks know: mode, hints and views.
[[nodiscard]] bool is_never_worth_exchange(const CommonCourse& course, const OpenFile& file,
                                           int ranks) noexcept;

/// Whether the ranks' data interleave in runs so short that an exchange is worth it. Never
/// where the view of a rank is not forward: windows are made of data that follow each other.
[[nodiscard]] bool is_worth_exchange(std::span<const RankPart> parts, const CommonCourse& course,
                                     const OpenFile& file) noexcept;

/// The exchange itself. `parts` has one entry a rank. Errors of file operations go to
/// `call.error` of the aggregator; the caller has the ranks agree.
CollTask move_in_two_phases(CollContext& exchange, CollectiveAccess& call,
                            std::span<const RankPart> parts);

}  // namespace fulmar::mpi
