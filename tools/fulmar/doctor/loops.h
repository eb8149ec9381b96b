// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fabric/tcp/connect/interfaces.h"

namespace fulmar::doctor {

/// What became of a connection of this process to itself.
struct Loop {
  double ms = 0;
  std::string problem;  ///< empty: it was made, and both ends have proven the key
};

/// Connects this process to itself at each address, as two ranks of a job would do it: listening
/// there only, with the whole handshake (fabric/tcp/connect/connector.h). All of them at the same time;
/// takes `deadline_ns` at most, and some 8 descriptors for each.
std::vector<Loop> try_loops(std::span<const fabric::tcp::LocalAddress> addresses,
                            std::uint64_t deadline_ns);

}  // namespace fulmar::doctor
