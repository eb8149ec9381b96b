// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

namespace fulmar::mpi {

/// An MPI_T_enum: names of the values 0, 1, 2, ... in this order. Its address is its handle.
struct Enumeration {
  std::string name;
  std::vector<std::string> items;
};

}  // namespace fulmar::mpi
