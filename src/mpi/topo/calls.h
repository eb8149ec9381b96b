// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 8; see mpi/args.h. Those that ask for another kind of topology
// than the communicator has fail with MPI_ERR_TOPOLOGY; those that make a communicator fail in all
// processes where they fail in one, with MPI_ERR_ARG where processes disagree about what to make.

/// Replaces the zeros in `dims` by factors of `nodes` that are as close to each other as they get,
/// in descending order (MPI 5.0 section 8.5.2). Fails with MPI_ERR_DIMS where `nodes` is no
/// multiple of the given ones, or not their product when none is to be chosen.
base::Error dims_create(int nodes, int count, std::span<int> dims);

/// MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED for none.
base::Error topo_test(Comm& comm, int& status);

/// MPI_ERR_DIMS for negative dimensions, or where their product is above the size of `comm`. With a
/// dimension of 0 no process is in the grid: MPI_COMM_NULL, and MPI_UNDEFINED of cart_map
/// (docs/liberal.md).
base::Error cart_create(Library& library, Comm& comm, int ndims, std::span<const int> dims,
                        std::span<const int> periods, int reorder, MPI_Comm& out);
/// The rank that the calling process gets from cart_create with `reorder`; needs no communication.
base::Error cart_map(Comm& comm, int ndims, std::span<const int> dims, std::span<const int> periods,
                     int& rank);
base::Error cart_sub(Library& library, Comm& comm, const int* remain_dims, MPI_Comm& out);
base::Error cartdim_get(Comm& comm, int& ndims);
base::Error cart_get(Comm& comm, int maxdims, std::span<int> dims, std::span<int> periods,
                     std::span<int> coords);
/// Coordinates outside a dimension that is not periodic: MPI_ERR_ARG.
base::Error cart_rank(Comm& comm, const int* coords, int& rank);
base::Error cart_coords(Comm& comm, int rank, int maxdims, std::span<int> coords);
base::Error cart_shift(Comm& comm, int direction, int displacement, int& source, int& dest);

base::Error graph_create(Library& library, Comm& comm, int nodes, std::span<const int> index,
                         const int* edges, int reorder, MPI_Comm& out);
base::Error graph_map(Comm& comm, int nodes, std::span<const int> index, const int* edges,
                      int& rank);
base::Error graphdims_get(Comm& comm, int& nodes, int& edges);
base::Error graph_get(Comm& comm, int maxindex, int maxedges, std::span<int> index,
                      std::span<int> edges);
base::Error graph_neighbors_count(Comm& comm, int rank, int& count);
base::Error graph_neighbors(Comm& comm, int rank, int maxneighbors, std::span<int> neighbors);

/// Neighbours come in the order of the ranks that named them, and of each in the order in which it
/// did.
base::Error dist_graph_create(Library& library, Comm& comm, int count, std::span<const int> sources,
                              std::span<const int> degrees, const int* destinations,
                              const int* weights, Info* info, int reorder, MPI_Comm& out);
/// MPI_ERR_ARG in all processes where an edge was named at only one of its ends.
base::Error dist_graph_create_adjacent(Library& library, Comm& comm, int indegree,
                                       std::span<const int> sources, const int* source_weights,
                                       int outdegree, std::span<const int> destinations,
                                       const int* destination_weights, Info* info, int reorder,
                                       MPI_Comm& out);
base::Error dist_graph_neighbors_count(Comm& comm, int& indegree, int& outdegree, int& weighted);
/// Returns the first of the neighbours where the arrays are shorter, as the standard says.
base::Error dist_graph_neighbors(Comm& comm, int maxindegree, std::span<int> sources,
                                 int* source_weights, int maxoutdegree, std::span<int> destinations,
                                 int* destination_weights);

// Neighbourhood collective operations, blocking, non-blocking and persistent. Where a process has
// no neighbours its buffers and arrays are not checked. MPI_ERR_BUFFER for MPI_IN_PLACE.

base::Error neighbor_allgather(const void* send, Count send_count, const Datatype& send_type,
                               void* receive, Count receive_count, const Datatype& receive_type,
                               Comm& comm);
base::Error ineighbor_allgather(const void* send, Count send_count, const Datatype& send_type,
                                void* receive, Count receive_count, const Datatype& receive_type,
                                Comm& comm, MPI_Request& request);
base::Error neighbor_allgather_init(const void* send, Count send_count, const Datatype& send_type,
                                    void* receive, Count receive_count,
                                    const Datatype& receive_type, Comm& comm, Info* info,
                                    MPI_Request& request);

base::Error neighbor_allgatherv(const void* send, Count send_count, const Datatype& send_type,
                                void* receive, CountArray counts, CountArray displs,
                                const Datatype& receive_type, Comm& comm);
base::Error ineighbor_allgatherv(const void* send, Count send_count, const Datatype& send_type,
                                 void* receive, CountArray counts, CountArray displs,
                                 const Datatype& receive_type, Comm& comm, MPI_Request& request);
base::Error neighbor_allgatherv_init(const void* send, Count send_count, const Datatype& send_type,
                                     void* receive, CountArray counts, CountArray displs,
                                     const Datatype& receive_type, Comm& comm, Info* info,
                                     MPI_Request& request);

base::Error neighbor_alltoall(const void* send, Count send_count, const Datatype& send_type,
                              void* receive, Count receive_count, const Datatype& receive_type,
                              Comm& comm);
base::Error ineighbor_alltoall(const void* send, Count send_count, const Datatype& send_type,
                               void* receive, Count receive_count, const Datatype& receive_type,
                               Comm& comm, MPI_Request& request);
base::Error neighbor_alltoall_init(const void* send, Count send_count, const Datatype& send_type,
                                   void* receive, Count receive_count, const Datatype& receive_type,
                                   Comm& comm, Info* info, MPI_Request& request);

base::Error neighbor_alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                               const Datatype& send_type, void* receive, CountArray receive_counts,
                               CountArray receive_displs, const Datatype& receive_type, Comm& comm);
base::Error ineighbor_alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                                const Datatype& send_type, void* receive, CountArray receive_counts,
                                CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                                MPI_Request& request);
base::Error neighbor_alltoallv_init(const void* send, CountArray send_counts,
                                    CountArray send_displs, const Datatype& send_type,
                                    void* receive, CountArray receive_counts,
                                    CountArray receive_displs, const Datatype& receive_type,
                                    Comm& comm, Info* info, MPI_Request& request);

base::Error neighbor_alltoallw(const void* send, CountArray send_counts,
                               const MPI_Aint* send_displs, const MPI_Datatype* send_types,
                               void* receive, CountArray receive_counts,
                               const MPI_Aint* receive_displs, const MPI_Datatype* receive_types,
                               Comm& comm);
base::Error ineighbor_alltoallw(const void* send, CountArray send_counts,
                                const MPI_Aint* send_displs, const MPI_Datatype* send_types,
                                void* receive, CountArray receive_counts,
                                const MPI_Aint* receive_displs, const MPI_Datatype* receive_types,
                                Comm& comm, MPI_Request& request);
base::Error neighbor_alltoallw_init(const void* send, CountArray send_counts,
                                    const MPI_Aint* send_displs, const MPI_Datatype* send_types,
                                    void* receive, CountArray receive_counts,
                                    const MPI_Aint* receive_displs,
                                    const MPI_Datatype* receive_types, Comm& comm, Info* info,
                                    MPI_Request& request);

}  // namespace fulmar::mpi
