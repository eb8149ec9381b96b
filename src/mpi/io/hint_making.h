// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "io/hints.h"
#include "mpi/info/info.h"
#include "mpi/io/file.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// The hints of a new file: the defaults, then what the file named by ROMIO_HINTS says, then the
/// program's. `info` may be null.
[[nodiscard]] io::Hints hints_from(Library& library, const Info* info);
/// Adds those of an info object, which may be null.
void add_hints(io::Hints& hints, const Info* info);
/// The same for an open file, but for hints that count when it is opened.
void change_hints(File& file, const Info* info);
/// Collective: hints on which the course of collective calls depends become those of rank 0.
/// No rank returns before all are here: programs count on that of MPI_File_set_view.
[[nodiscard]] base::Error share_hints(Comm& comm, io::Hints& hints);

/// Collective: what the ranks know of the file system becomes the same, by which they all choose how collective calls
/// go. They may reach the file in different ways.
[[nodiscard]] base::Error share_file_system(Comm& comm, io::FileSystem& system);

/// The same for cb_config_list, when a file is opened; after `share_hints`.
[[nodiscard]] base::Error share_aggregator_list(Comm& comm, io::Hints& hints);

}  // namespace fulmar::mpi
