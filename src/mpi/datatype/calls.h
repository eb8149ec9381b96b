// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"
#include "mpi/datatype/datatype.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 5; see mpi/args.h for the form of the parameters.

base::Error type_contiguous(Library& library, Form form, Count count, Datatype& old,
                            MPI_Datatype& out);
base::Error type_vector(Library& library, Form form, Count count, Count block_length, Count stride,
                        Datatype& old, MPI_Datatype& out);
base::Error type_create_hvector(Library& library, Form form, Count count, Count block_length,
                                Count stride_bytes, Datatype& old, MPI_Datatype& out);
base::Error type_indexed(Library& library, Form form, Count count, CountArray lengths,
                         CountArray displacements, Datatype& old, MPI_Datatype& out);
base::Error type_create_hindexed(Library& library, Form form, Count count, CountArray lengths,
                                 std::span<const MPI_Aint> displacements, Datatype& old,
                                 MPI_Datatype& out);
base::Error type_create_indexed_block(Library& library, Form form, Count count, Count block_length,
                                      CountArray displacements, Datatype& old, MPI_Datatype& out);
base::Error type_create_hindexed_block(Library& library, Form form, Count count, Count block_length,
                                       std::span<const MPI_Aint> displacements, Datatype& old,
                                       MPI_Datatype& out);
base::Error type_create_struct(Library& library, Form form, Count count, CountArray lengths,
                               std::span<const MPI_Aint> displacements,
                               std::span<const MPI_Datatype> types, MPI_Datatype& out);
base::Error type_create_subarray(Library& library, Form form, int dimensions, CountArray sizes,
                                 CountArray subsizes, CountArray starts, int order, Datatype& old,
                                 MPI_Datatype& out);
base::Error type_create_darray(Library& library, Form form, int processes, int rank, int dimensions,
                               CountArray sizes, std::span<const int> kinds,
                               std::span<const int> arguments, std::span<const int> grid, int order,
                               Datatype& old, MPI_Datatype& out);
base::Error type_create_resized(Library& library, Form form, Datatype& old, Count lb, Count extent,
                                MPI_Datatype& out);
base::Error type_dup(Library& library, Datatype& old, MPI_Datatype& out);
base::Error type_commit(Library& library, Handle<Datatype> datatype);
base::Error type_free(Library& library, Handle<Datatype> datatype);

/// MPI_UNDEFINED for optional types that this library does not have.
base::Error type_size(Library& library, Datatype& datatype, CountOut size);
base::Error type_size_x(Library& library, Datatype& datatype, Count& size);
base::Error type_get_extent(Library& library, Datatype& datatype, Count& lb, Count& extent);
base::Error type_get_extent_x(Library& library, Datatype& datatype, Count& lb, Count& extent);
base::Error type_get_true_extent(Library& library, Datatype& datatype, Count& lb, Count& extent);
base::Error type_get_true_extent_x(Library& library, Datatype& datatype, Count& lb, Count& extent);

/// A null datatype is MPI_DATATYPE_NULL, which has a name too.
base::Error type_get_name(Library& library, Datatype* datatype, char* name, int& length);
base::Error type_set_name(Library& library, Datatype& datatype, std::string_view name);

base::Error type_get_envelope(Library& library, Datatype& datatype, int& integers, int& addresses,
                              int& datatypes, int& combiner);
base::Error type_get_envelope_c(Library& library, Datatype& datatype, Count& integers,
                                Count& addresses, Count& counts, Count& datatypes, int& combiner);
base::Error type_get_contents(Library& library, Datatype& datatype, int max_integers,
                              int max_addresses, int max_datatypes, std::span<int> integers,
                              std::span<MPI_Aint> addresses, std::span<MPI_Datatype> datatypes);
base::Error type_get_contents_c(Library& library, Datatype& datatype, Count max_integers,
                                Count max_addresses, Count max_counts, Count max_datatypes,
                                std::span<int> integers, std::span<MPI_Aint> addresses,
                                std::span<Count> counts, std::span<MPI_Datatype> datatypes);

// Types that the library gives out and keeps; users do not free them.
base::Error type_create_f90_real(Library& library, int precision, int range, MPI_Datatype& out);
base::Error type_create_f90_complex(Library& library, int precision, int range, MPI_Datatype& out);
base::Error type_create_f90_integer(Library& library, int range, MPI_Datatype& out);
base::Error type_match_size(Library& library, int type_class, int size, MPI_Datatype& out);
/// MPI_DATATYPE_NULL where there is no such pair.
base::Error type_get_value_index(Library& library, Datatype& value, Datatype& index,
                                 MPI_Datatype& out);

base::Error type_set_attr(Library& library, Datatype& datatype, int keyval, void* value);
base::Error type_get_attr(Library& library, Datatype& datatype, int keyval, void*& value,
                          int& found);
base::Error type_delete_attr(Library& library, Datatype& datatype, int keyval);

base::Error pack(Library& library, ConstData in, void* out, Count out_bytes, CountOut position,
                 Comm& comm);
base::Error unpack(Library& library, const void* in, Count in_bytes, CountOut position, Data out,
                   Comm& comm);
base::Error pack_size(Library& library, Count count, Datatype& datatype, Comm& comm, CountOut size);

// See external.h. `datarep` must be "external32".
base::Error pack_external(Library& library, std::string_view datarep, ConstData in, void* out,
                          Count out_bytes, Count& position);
base::Error unpack_external(Library& library, std::string_view datarep, const void* in,
                            Count in_bytes, Count& position, Data out);
base::Error pack_external_size(Library& library, std::string_view datarep, Count count,
                               Datatype& datatype, Count& size);

}  // namespace fulmar::mpi
