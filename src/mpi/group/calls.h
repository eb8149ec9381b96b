// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "mpi/args.h"
#include "mpi/group/group.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 section 7.3 on groups; see mpi/args.h. New groups without members are
// MPI_GROUP_EMPTY, which may be freed like any other. Ranks that are not in a group or come twice
// give MPI_ERR_RANK, bad strides MPI_ERR_ARG.

/// Returns a new group of these processes; MPI_ERR_NO_MEM where memory is used up.
base::Error give_group(Library& library, ProcessList processes, int own_rank, MPI_Group& out,
                       std::uintptr_t session = 0);

base::Error group_size(Library& library, Group& group, int& size);
base::Error group_rank(Library& library, Group& group, int& rank);
base::Error group_translate_ranks(Library& library, Group& from, int n, std::span<const int> ranks,
                                  Group& to, std::span<int> out);
base::Error group_compare(Library& library, Group& a, Group& b, int& result);
base::Error group_union(Library& library, Group& a, Group& b, MPI_Group& out);
base::Error group_intersection(Library& library, Group& a, Group& b, MPI_Group& out);
base::Error group_difference(Library& library, Group& a, Group& b, MPI_Group& out);
base::Error group_incl(Library& library, Group& group, int n, std::span<const int> ranks,
                       MPI_Group& out);
base::Error group_excl(Library& library, Group& group, int n, std::span<const int> ranks,
                       MPI_Group& out);
/// Ranges are {first, last, stride}.
base::Error group_range_incl(Library& library, Group& group, int n, std::span<int[3]> ranges,
                             MPI_Group& out);
base::Error group_range_excl(Library& library, Group& group, int n, std::span<int[3]> ranges,
                             MPI_Group& out);
base::Error group_free(Library& library, Handle<Group> group);

}  // namespace fulmar::mpi
