// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vector>

#include "mpi/coll/blocks.h"
#include "mpi/coll/engine/run.h"
#include "mpi/comm/topology.h"

/// Neighbourhood collective operations (MPI 5.0 section 8.6): the arguments, in the form that
/// mpi/coll/engine/run.h asks for. Block i belongs to entry i of Topology::sources or
/// ::destinations.
namespace fulmar::mpi {

/// The common part of the five operations.
struct Neighbourhood {
  /// How the blocks of a side are described: one block for all, equal ones, with counts
  /// and displacements, or with types as well.
  enum class Form : std::uint8_t { single, equal, v, w };

  Form send_form;
  Form receive_form;
  Blocks send;
  Blocks receive;
  /// Of the w-form; `check` looks them up. For a neighbour MPI_PROC_NULL any value will do.
  const MPI_Datatype* send_handles = nullptr;
  const MPI_Datatype* receive_handles = nullptr;
  std::vector<const Datatype*> types;

  /// MPI_ERR_TOPOLOGY without a topology, and for a graph that has an edge but not its reverse,
  /// where processes would wait for each other for ever. Arrays and buffers of a process without
  /// neighbours are not checked.
  [[nodiscard]] base::Error check(const Comm& comm);
  bool substitute(const Comm& comm, StandIn& stand_in);
  CollTask algorithm(CollContext& exchange) const;
  [[nodiscard]] Held held() const noexcept { return {{send.type, receive.type}, nullptr, types}; }
  void keep_arrays(const Comm& comm, ArgumentCopies& arrays) {
    arrays.keep(send, static_cast<int>(comm.topology->destinations.size()));
    arrays.keep(receive, static_cast<int>(comm.topology->sources.size()));
  }
  void add_counts(const Comm& comm, CountCheck& count_check) const;

 private:
  [[nodiscard]] base::Error check_w(const Comm& comm);
  [[nodiscard]] base::Error check_same(int neighbours) const;
};

struct NeighborAllgather : Neighbourhood {
  static constexpr const char* nonblocking = "MPI_Ineighbor_allgather";
  static constexpr const char* persistent = "MPI_Neighbor_allgather_init request";
};
struct NeighborAllgatherv : Neighbourhood {
  static constexpr const char* nonblocking = "MPI_Ineighbor_allgatherv";
  static constexpr const char* persistent = "MPI_Neighbor_allgatherv_init request";
};
struct NeighborAlltoall : Neighbourhood {
  static constexpr const char* nonblocking = "MPI_Ineighbor_alltoall";
  static constexpr const char* persistent = "MPI_Neighbor_alltoall_init request";
};
struct NeighborAlltoallv : Neighbourhood {
  static constexpr const char* nonblocking = "MPI_Ineighbor_alltoallv";
  static constexpr const char* persistent = "MPI_Neighbor_alltoallv_init request";
};
struct NeighborAlltoallw : Neighbourhood {
  static constexpr const char* nonblocking = "MPI_Ineighbor_alltoallw";
  static constexpr const char* persistent = "MPI_Neighbor_alltoallw_init request";
};

}  // namespace fulmar::mpi
