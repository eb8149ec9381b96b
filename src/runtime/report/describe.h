// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

namespace fulmar::runtime {

/// What this library would use and how it is set, as lines of text: networks, protocols, options
/// with their values and where those come from, complaints about the environment. For `fulmar
/// info`; does not initialise anything.
std::string describe();

/// Which provider serves a rank of the job, and why: "tcp\tanother node (tcp by default)"; from its size on,
/// a process of another job: "tcp\tanother job: rank 0 of job 0123abcd". Empty while there is no job yet or its
/// networks are closed, and for a number that no process has. Under the lock of the library.
std::string describe_peer(std::int64_t rank);

}  // namespace fulmar::runtime
