// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::info {

/// `fulmar info --windows`: makes windows of each kind in a job and prints how rank 0 reaches the
/// memory of the other ranks, and what carries out accumulates on elements of eight bytes, and why.
/// The exit code.
int show_windows();

}  // namespace fulmar::info
