// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/io/collective/kept_sums.h"

namespace fulmar::mpi {

struct CollectiveAccess;

/// FULMAR_CHECK=files, of one open file: what collective writes have put into it is remembered in
/// checksums (mpi/io/collective/kept_sums.h), which are spread over its ranks, and compared with what
/// collective reads bring. Found are bytes that were lost or changed on the way between a rank and
/// the file or back, also by writers outside of this file handle; and ranks that write the same
/// bytes in one call without atomic mode. Data in a representation that is not as in memory are
/// not checked.
///
/// Thread rule: the lock of the library.
class FileCheck {
 public:
  /// This rank writes here by itself: nothing is known of it from the next collective call on.
  void forget_later(Count first, Count end);
  /// MPI_File_set_size, at every rank.
  void cut(Count size) noexcept { kept_.forget(size, INT64_MAX); }

  /// Collective, at the end of a collective access whose data have been moved: `call.error` becomes
  /// what is found. Every rank of the file runs it.
  static CollTask run(CollContext& exchange, CollectiveAccess& call);

 private:
  struct Forgotten {
    std::int64_t first;
    std::int64_t end;
    std::uint64_t number;
  };
  class Exchange;

  KeptSums kept_;
  std::vector<Forgotten> forgotten_;
  std::uint64_t forgotten_number_ = 0;
  std::uint64_t writes_ = 0;  ///< collective ones so far
};

}  // namespace fulmar::mpi
