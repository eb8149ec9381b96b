// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::info {

/// A job by itself: talks to every rank once, and at length to the first ones that several networks
/// lead to, then rank 0 prints which provider carries messages to whom, and why. Initialises and
/// finalizes MPI. Returns the exit code.
int show_peers();

}  // namespace fulmar::info
