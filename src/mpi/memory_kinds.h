// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

/// Kinds of memory that buffers may lie in (MPI 5.0 section 11.4.3). This library reads and writes
/// them from the processor, so these two are all that it supports, whatever a program asks for.
namespace fulmar::mpi {

/// The info key that tells the kinds of a session or a communicator.
inline constexpr std::string_view memory_kinds_key = "mpi_memory_alloc_kinds";
inline constexpr std::string_view memory_kinds = "mpi,system";

}  // namespace fulmar::mpi
