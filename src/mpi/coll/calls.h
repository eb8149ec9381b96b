// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"

namespace fulmar::mpi {

// Collective operations (MPI 5.0 chapter 6) on intracommunicators, blocking, non-blocking (i...)
// and persistent (..._init); see mpi/args.h for the form of the parameters.

base::Error barrier(Comm& comm);
base::Error ibarrier(Comm& comm, MPI_Request& request);
base::Error barrier_init(Comm& comm, Info* info, MPI_Request& request);

base::Error bcast(const Data& data, int root, Comm& comm);
base::Error ibcast(const Data& data, int root, Comm& comm, MPI_Request& request);
base::Error bcast_init(const Data& data, int root, Comm& comm, Info* info, MPI_Request& request);

base::Error gather(const ConstData& send, const Data& receive, int root, Comm& comm);
base::Error igather(const ConstData& send, const Data& receive, int root, Comm& comm,
                    MPI_Request& request);
base::Error gather_init(const ConstData& send, const Data& receive, int root, Comm& comm,
                        Info* info, MPI_Request& request);

base::Error gatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                    const Datatype* type, int root, Comm& comm);
base::Error igatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                     const Datatype* type, int root, Comm& comm, MPI_Request& request);
base::Error gatherv_init(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                         const Datatype* type, int root, Comm& comm, Info* info,
                         MPI_Request& request);

base::Error scatter(const ConstData& send, const Data& receive, int root, Comm& comm);
base::Error iscatter(const ConstData& send, const Data& receive, int root, Comm& comm,
                     MPI_Request& request);
base::Error scatter_init(const ConstData& send, const Data& receive, int root, Comm& comm,
                         Info* info, MPI_Request& request);

base::Error scatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                     const Data& receive, int root, Comm& comm);
base::Error iscatterv(const void* send, CountArray counts, CountArray displs, const Datatype* type,
                      const Data& receive, int root, Comm& comm, MPI_Request& request);
base::Error scatterv_init(const void* send, CountArray counts, CountArray displs,
                          const Datatype* type, const Data& receive, int root, Comm& comm,
                          Info* info, MPI_Request& request);

base::Error allgather(const ConstData& send, const Data& receive, Comm& comm);
base::Error iallgather(const ConstData& send, const Data& receive, Comm& comm,
                       MPI_Request& request);
base::Error allgather_init(const ConstData& send, const Data& receive, Comm& comm, Info* info,
                           MPI_Request& request);

base::Error allgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                       const Datatype& type, Comm& comm);
base::Error iallgatherv(const ConstData& send, void* receive, CountArray counts, CountArray displs,
                        const Datatype& type, Comm& comm, MPI_Request& request);
base::Error allgatherv_init(const ConstData& send, void* receive, CountArray counts,
                            CountArray displs, const Datatype& type, Comm& comm, Info* info,
                            MPI_Request& request);

base::Error alltoall(const ConstData& send, const Data& receive, Comm& comm);
base::Error ialltoall(const ConstData& send, const Data& receive, Comm& comm, MPI_Request& request);
base::Error alltoall_init(const ConstData& send, const Data& receive, Comm& comm, Info* info,
                          MPI_Request& request);

base::Error alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                      const Datatype* send_type, void* receive, CountArray receive_counts,
                      CountArray receive_displs, const Datatype& receive_type, Comm& comm);
base::Error ialltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                       const Datatype* send_type, void* receive, CountArray receive_counts,
                       CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                       MPI_Request& request);
base::Error alltoallv_init(const void* send, CountArray send_counts, CountArray send_displs,
                           const Datatype* send_type, void* receive, CountArray receive_counts,
                           CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                           Info* info, MPI_Request& request);

base::Error alltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                      const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                      CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm);
base::Error ialltoallw(const void* send, CountArray send_counts, CountArray send_displs,
                       const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                       CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm,
                       MPI_Request& request);
base::Error alltoallw_init(const void* send, CountArray send_counts, CountArray send_displs,
                           const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                           CountArray receive_displs, const MPI_Datatype* receive_types, Comm& comm,
                           Info* info, MPI_Request& request);

base::Error reduce(const void* send, void* receive, Count count, const Datatype* type, const Op* op,
                   int root, Comm& comm);
base::Error ireduce(const void* send, void* receive, Count count, const Datatype* type,
                    const Op* op, int root, Comm& comm, MPI_Request& request);
base::Error reduce_init(const void* send, void* receive, Count count, const Datatype* type,
                        const Op* op, int root, Comm& comm, Info* info, MPI_Request& request);

base::Error allreduce(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error iallreduce(const void* send, const Data& receive, const Op& op, Comm& comm,
                       MPI_Request& request);
base::Error allreduce_init(const void* send, const Data& receive, const Op& op, Comm& comm,
                           Info* info, MPI_Request& request);

base::Error scan(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error iscan(const void* send, const Data& receive, const Op& op, Comm& comm,
                  MPI_Request& request);
base::Error scan_init(const void* send, const Data& receive, const Op& op, Comm& comm, Info* info,
                      MPI_Request& request);

base::Error exscan(const void* send, void* receive, Count count, const Datatype& type, const Op& op,
                   Comm& comm);
base::Error iexscan(const void* send, void* receive, Count count, const Datatype& type,
                    const Op& op, Comm& comm, MPI_Request& request);
base::Error exscan_init(const void* send, void* receive, Count count, const Datatype& type,
                        const Op& op, Comm& comm, Info* info, MPI_Request& request);

base::Error reduce_scatter(const void* send, void* receive, CountArray counts, const Datatype& type,
                           const Op& op, Comm& comm);
base::Error ireduce_scatter(const void* send, void* receive, CountArray counts,
                            const Datatype& type, const Op& op, Comm& comm, MPI_Request& request);
base::Error reduce_scatter_init(const void* send, void* receive, CountArray counts,
                                const Datatype& type, const Op& op, Comm& comm, Info* info,
                                MPI_Request& request);

base::Error reduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm);
base::Error ireduce_scatter_block(const void* send, const Data& receive, const Op& op, Comm& comm,
                                  MPI_Request& request);
base::Error reduce_scatter_block_init(const void* send, const Data& receive, const Op& op,
                                      Comm& comm, Info* info, MPI_Request& request);

}  // namespace fulmar::mpi
