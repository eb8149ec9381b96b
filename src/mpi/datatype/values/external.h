// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

// The representation external32 (MPI 5.0 section 14.5.2): the basic elements of the type map in
// their order, each big-endian and without gaps, in sizes that are the same on every machine.
//
// Numbers of another size than in memory (MPI_LONG, MPI_WCHAR, Fortran's default types where the
// compiler was told to use longer ones) are converted; an integer or character that does not fit
// ends the call with MPI_ERR_CONVERSION, real numbers are rounded. Logicals become 0 or 1.

/// Bytes of `count` elements; MPI_ERR_COUNT where that leaves 64 bits.
[[nodiscard]] base::Result<Count> external_bytes(const Datatype& type, Count count);

/// Writes `external_bytes` bytes to `to`. After an error they are undefined.
[[nodiscard]] base::Error pack_external32(ConstData data, std::byte* to);
/// Reads as many from `from`. After an error the buffer is partly written.
[[nodiscard]] base::Error unpack_external32(const std::byte* from, Data data);
/// Reads the basic elements that `from` holds completely, all of the data at most; `moved` becomes
/// their size in memory. After an error the buffer is partly written.
[[nodiscard]] base::Error unpack_external32_part(std::span<const std::byte> from, Data data,
                                                 Count& moved);

}  // namespace fulmar::mpi
