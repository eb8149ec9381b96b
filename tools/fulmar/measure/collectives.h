// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// What a collective call is given; made once for all calls of a point.
struct CollectiveArguments {
  void* send;
  void* receive;
  int bytes;      ///< of one block where an operation has a block for each rank, else of the data
  int doubles;    ///< as many as `bytes` hold
  MPI_Comm comm;  ///< the team's, or made of it: `prepare`
  std::vector<int> counts;  ///< v- and w-forms: `bytes` for each rank
  std::vector<int> displs;
  std::vector<MPI_Datatype> types;
  int root;  ///< 0; of an intercommunicator MPI_ROOT, MPI_PROC_NULL, or 0 in the other group
  MPI_Request request = MPI_REQUEST_NULL;  ///< a persistent one
};

/// One collective operation, in one of its forms, between the ranks of a team.
///
/// plain: blocking. `i...`: non-blocking, completed at once by MPI_Wait. `..._init`: persistent, MPI_Start and
/// MPI_Wait. `...v`, `...w`: the same length for all ranks. neighbor_...: on a periodic ring. ..._in_place:
/// MPI_IN_PLACE. inter_...: between the even and the odd ranks. Rank 0 is the root.
class CollectiveRun {
 public:
  CollectiveRun(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers);
  ~CollectiveRun();
  CollectiveRun(const CollectiveRun&) = delete;
  CollectiveRun& operator=(const CollectiveRun&) = delete;

  /// `count` calls in a row. Operations in which some ranks need not wait for others end with a barrier, so
  /// that the time is that of all ranks.
  void calls(int count);

 private:
  Kind test_;
  MPI_Comm team_;
  CollectiveArguments arguments_;
};

/// How many times `bytes` the buffers of the test must hold.
std::size_t blocks_of(Kind test, int ranks);
/// Whether sizes are whole numbers of doubles, at least one.
bool is_of_doubles(Kind test);
/// Whether the call has no data.
bool is_barrier(Kind test);

}  // namespace fulmar::measure
