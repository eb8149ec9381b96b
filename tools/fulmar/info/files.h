// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "io/storage.h"

namespace fulmar::info {

/// Prints what MPI's file functions make of a file, which need not exist, or of files in a folder: the
/// file system and what follows from it, and the hints in effect with their origins. Changes nothing
/// there. Returns the exit code: 1 where there is neither the file nor its folder.
int show_files(const std::string& path);

/// The text, of facts found elsewhere. `hints_file` is the value of ROMIO_HINTS; empty: not set.
[[nodiscard]] std::string files_text(const std::string& path, const io::Storage& storage,
                                     const std::string& hints_file, const std::string& async_way);

}  // namespace fulmar::info
