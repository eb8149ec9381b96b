// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

namespace fulmar::info {

/// A chapter of the standard: how many of its functions there are, how many work, and the names of
/// the others.
struct Chapter {
  const char* name;
  const char* title;
  int number;  ///< in MPI 5.0
  int functions;
  int working;
  const char* missing;  ///< names, separated by blanks
};

/// From spec/; empty when the build had no generated tables.
std::span<const Chapter> chapters();

}  // namespace fulmar::info
