// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "mpi/coll/blocks.h"

namespace fulmar::mpi {

/// Copies of the caller's counts and displacements for a call that outlives its MPI call: a persistent or a
/// non-blocking one. The standard only forbids to change the arrays before the call is complete, or the
/// request freed (MPI 5.0 sections 6.12 and 6.13), but other libraries read them when the call is made, and
/// programs, mpi4py among them, free them then.
class ArgumentCopies {
 public:
  /// Lets `array` refer to a copy of its first `size` entries, which lives as long as this object.
  void keep(CountArray& array, int size) {
    if (array.is_null() || size <= 0) return;
    std::vector<Count>& copy = copies_.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) copy.push_back(array[i]);
    array = CountArray(copy.data(), array.size());
  }
  /// The same for both arrays of a buffer of `size` blocks.
  void keep(Blocks& blocks, int size) {
    if (blocks.in_place()) return;
    keep(blocks.counts, size);
    keep(blocks.displs, size);
  }

 private:
  std::vector<std::vector<Count>> copies_;
};

}  // namespace fulmar::mpi
