// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <vector>

#include "mpi/coll/blocks.h"

namespace fulmar::mpi {

/// The elements of a buffer dealt out to ranks in runs, as counts and displacements of a v-form:
/// for algorithms in which every rank works on a part.
class Parts {
 public:
  /// As equal as they can be.
  Parts(Count elements, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      add(elements / ranks + (rank < elements % ranks ? 1 : 0));
    }
  }
  /// `count_of(rank)` elements each.
  template <class CountOf>
  Parts(int ranks, CountOf&& count_of) {
    for (int rank = 0; rank < ranks; ++rank) add(count_of(rank));
  }

  [[nodiscard]] Count count(int rank) const noexcept {
    return counts_[static_cast<std::size_t>(rank)];
  }
  /// Elements before those of a rank.
  [[nodiscard]] Count displ(int rank) const noexcept {
    return displs_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] Count total() const noexcept { return total_; }
  /// A buffer seen in these parts. Not longer than this object.
  [[nodiscard]] Blocks of(const void* address, const Datatype& type) const noexcept {
    return Blocks::various(address, {counts_.data(), counts_.size()},
                           {displs_.data(), displs_.size()}, &type);
  }

 private:
  void add(Count count) {
    counts_.push_back(count);
    displs_.push_back(total_);
    total_ += count;
  }

  std::vector<Count> counts_;
  std::vector<Count> displs_;
  Count total_ = 0;
};

}  // namespace fulmar::mpi
