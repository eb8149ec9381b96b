// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fulmar/doctor/facts.h"

namespace fulmar::doctor {

/// Called before each step, to show progress to the user.
using Progress = std::function<void(const std::string& step)>;

/// Looks at this machine. Takes some tenths of a second; where a name server or a firewall does not
/// answer, some seconds. Requires that this process has one thread.
Facts gather(const Progress& progress);

/// Parts of it.
NetworkFacts gather_network(const Progress& progress);
LimitFacts gather_limits();
KernelFacts gather_kernel();
RdmaFacts gather_rdma();
void gather_launchers(Facts& facts, const Progress& progress);
/// Opens the first library of these that can be opened, in a child, and has `ask` put a question to
/// it. Its answer becomes the `version`.
LibraryFacts open_library(const std::vector<std::string>& names, std::string (*ask)(void* library));

}  // namespace fulmar::doctor
