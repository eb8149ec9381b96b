// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"

namespace fulmar::mpi {

// Blocking collective operations (MPI 5.0 chapter 6) on intracommunicators; see mpi/args.h for how
// parameters come. Each is one file, which starts with what its algorithm costs and restricts.

base::Error barrier(Comm& comm);
base::Error bcast(const Data& data, int root, Comm& comm);

base::Error gather(const ConstData& send, const Data& receive, int root, Comm& comm);
base::Error gatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                    const Datatype* type, int root, Comm& comm);
base::Error scatter(const ConstData& send, const Data& receive, int root, Comm& comm);
base::Error scatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                     const Data& receive, int root, Comm& comm);
base::Error allgather(const ConstData& send, const Data& receive, Comm& comm);
base::Error allgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                       const Datatype& type, Comm& comm);
base::Error alltoall(const ConstData& send, const Data& receive, Comm& comm);
base::Error alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                      const Datatype* send_type, void* receive, CountArray receive_counts,
                      CountArray receive_displs, const Datatype& receive_type, Comm& comm);
base::Error alltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                      const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                      CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm);

base::Error reduce(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
                   int root, Comm& comm);
base::Error allreduce(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error scan(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error exscan(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error reduce_scatter(const void* send, void* receive, CountArray counts, const Datatype& type,
                           const Op& op, Comm& comm);
base::Error reduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm);

}  // namespace fulmar::mpi
