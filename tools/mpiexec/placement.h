// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "mpiexec/options.h"
#include "mpiexec/topology.h"

namespace fulmar::mpiexec {

/// Where each rank may run: a list of processors; an empty one means "not bound".
using Placement = std::vector<std::vector<std::uint32_t>>;

/// How many ranks share an object, and how much each gets; 0: as it comes.
struct Amounts {
  std::uint32_t ranks_per_object = 0;  ///< that an object of `map` takes before the next one
  std::uint32_t units_per_rank = 0;    ///< cores, or hardware threads, that a rank is bound to
  bool count_hwthreads = false;        ///< units are hardware threads
};

/// The number of objects of that kind; 1 for automatic and none.
[[nodiscard]] std::uint32_t count_objects(const std::vector<Processor>& processors, Place place);

/// Deals `ranks` ranks over the processors (as read_topology sorts them, at least one).
///
/// Without wishes (bind and map automatic): with at least as many cores c as ranks n, rank i gets
/// the cores [i*c/n, (i+1)*c/n), all their threads, so that the rank's own threads have room; with
/// fewer cores but enough hardware threads the same with hardware threads; with still fewer no rank
/// is bound. `map` deals ranks round robin over the objects of that kind, where those of one object
/// share it evenly; `bind` widens or narrows a rank's place to the object of that kind that holds
/// its first processor. With `units_per_rank` each rank gets so many units of its object that no
/// other one has, beginning again with the first where they are too few.
Placement place_ranks(std::uint32_t ranks, const std::vector<Processor>& processors, Place bind,
                      Place map, const Amounts& amounts = {});

}  // namespace fulmar::mpiexec
