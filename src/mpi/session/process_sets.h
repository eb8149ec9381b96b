// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "mpi/group/group.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// The process sets of a session (MPI 5.0 section 11.3.2), by their names:
///
/// * mpi://WORLD and mpi://SELF;
/// * fulmar://node/N, the processes of this process's job on node N, which are numbered by their
///   lowest ranks;
/// * fulmar://parent, the processes that have spawned this one's job together;
/// * fulmar://job/XXXXXXXX, for each job that this process has met: those of its processes with
///   which it shares a communicator. The number is the job's (wire/process_name.h), in eight
///   hexadecimal digits.
///
/// A set that has been there keeps its number in the session. Those of other jobs become invalid when
/// the last communicator with them is freed.
///
/// Thread rule: the lock of the library.

/// Appends the names of sets that `names` has not yet.
void add_process_sets(const Library& library, std::vector<std::string>& names);
/// The processes of a set, in the order of their ranks. Names are URIs, whose letters may have either
/// case. Fails (arg) for the name of no set, and of one that is invalid.
[[nodiscard]] base::Result<std::vector<ProcessId>> process_set(const Library& library,
                                                               std::string_view name);

}  // namespace fulmar::mpi
