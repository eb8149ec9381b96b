// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

// The constructors of MPI 5.0 section 5.1.2, on objects. Each gives a new uncommitted datatype with
// one reference. They fail with MPI_ERR_ARG (negative block length), MPI_ERR_COUNT (negative
// count), MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_TYPE (nested too deep) and MPI_ERR_NO_MEM. `form` is
// that of the call, for MPI_Type_get_envelope.

using NewDatatype = base::Result<Datatype*>;

[[nodiscard]] NewDatatype make_contiguous(Library& library, Form form, Count count, Datatype& old);
[[nodiscard]] NewDatatype make_vector(Library& library, Form form, Count count, Count block_length,
                                      Count stride, Datatype& old);
[[nodiscard]] NewDatatype make_hvector(Library& library, Form form, Count count, Count block_length,
                                       Count stride_bytes, Datatype& old);
/// MPI_Type_indexed, _create_hindexed: displacements in elements or in bytes.
[[nodiscard]] NewDatatype make_indexed(Library& library, Form form, CountArray lengths,
                                       CountArray displacements, Datatype& old);
[[nodiscard]] NewDatatype make_hindexed(Library& library, Form form, CountArray lengths,
                                        std::span<const MPI_Aint> displacements, Datatype& old);
/// The same with blocks of one length.
[[nodiscard]] NewDatatype make_indexed_block(Library& library, Form form, Count block_length,
                                             CountArray displacements, Datatype& old);
[[nodiscard]] NewDatatype make_hindexed_block(Library& library, Form form, Count block_length,
                                              std::span<const MPI_Aint> displacements,
                                              Datatype& old);
[[nodiscard]] NewDatatype make_struct(Library& library, Form form, CountArray lengths,
                                      std::span<const MPI_Aint> displacements,
                                      std::span<Datatype* const> types);
/// A block of an array with `sizes.size()` dimensions (MPI 5.0 section 5.1.3). `order` is checked.
[[nodiscard]] NewDatatype make_subarray(Library& library, Form form, CountArray sizes,
                                        CountArray subsizes, CountArray starts, int order,
                                        Datatype& old);

/// How one dimension of an array is spread over processes (MPI_Type_create_darray).
struct Distribution {
  Count size;     ///< elements of the whole array in this dimension
  int kind;       ///< MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE
  int argument;   ///< block length, or MPI_DISTRIBUTE_DFLT_DARG
  int processes;  ///< in this dimension of the grid
};
/// The part of a distributed array that belongs to process `rank` of `processes` (MPI 5.0
/// section 5.1.4).
[[nodiscard]] NewDatatype make_darray(Library& library, Form form, int processes, int rank,
                                      std::span<const Distribution> dimensions, int order,
                                      Datatype& old);
[[nodiscard]] NewDatatype make_resized(Library& library, Form form, Datatype& old, Count lb,
                                       Count extent);
/// MPI_Type_dup without the attributes.
[[nodiscard]] NewDatatype make_duplicate(Library& library, Datatype& old);

}  // namespace fulmar::mpi
