// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "mpiexec/options.h"

namespace fulmar::mpiexec {

/// The folders with the libraries that programs of `abi` load, all of which exist, below `library_folder`
/// (lib of the installation). Empty where there is nothing to offer. Fails (arg) where the libraries of an ABI
/// that was asked for by name are not installed.
base::Result<std::vector<std::string>> library_folders(ProgramAbi abi,
                                                       const std::string& library_folder);

/// The folder lib beside the folder of this program; empty where that is not known.
std::string own_library_folder();

/// Puts the folders ahead of what LD_LIBRARY_PATH names in this environment (NAME=VALUE).
void offer_libraries(const std::vector<std::string>& folders,
                     std::vector<std::string>& environment);

}  // namespace fulmar::mpiexec
