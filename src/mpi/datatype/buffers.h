// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

/// MPI_ERR_BUFFER where `count` elements cannot be at an address: MPI_IN_PLACE, or a null pointer
/// with a predefined type (MPI_BOTTOM needs absolute addresses).
[[nodiscard]] base::Error check_buffer(const char* argument, const void* address, Count count,
                                       const Datatype& type);

/// A buffer of packed data: two arguments of a call, by their names.
struct PackedBuffer {
  const char* address_name;
  const char* bytes_name;
  const void* address;
  Count bytes;
};
/// Fails unless [position, position + needed) is inside the buffer: MPI_ERR_ARG for the position,
/// MPI_ERR_TRUNCATE where the buffer is too short, MPI_ERR_BUFFER where there is none.
[[nodiscard]] base::Error check_packed(const PackedBuffer& buffer, Count position, Count needed);

}  // namespace fulmar::mpi
