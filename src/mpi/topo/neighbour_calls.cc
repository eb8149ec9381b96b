// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/topo/calls.h"
#include "mpi/topo/neighbours.h"

/// The entries of the neighbourhood collectives: three for each operation.
namespace fulmar::mpi {

using base::Error;

namespace {

using Form = Neighbourhood::Form;

template <class Call>
Error run_checked(Comm& comm, Call call) {
  const int tag = next_tag(comm);
  if (const Error bad = admit(comm, call); bad.failed()) return bad;
  return run_call(comm, tag, call);
}

}  // namespace

namespace {

NeighborAllgather allgather_call(const void* send, Count send_count, const Datatype& send_type,
                                 void* receive, Count receive_count, const Datatype& receive_type) {
  return {{Form::single,
           Form::equal,
           Blocks::equal(ConstData{send, send_count, &send_type}),
           Blocks::equal(Data{receive, receive_count, &receive_type}),
           nullptr,
           nullptr,
           {}}};
}

}  // namespace

Error neighbor_allgather(const void* send, Count send_count, const Datatype& send_type,
                         void* receive, Count receive_count, const Datatype& receive_type,
                         Comm& comm) {
  return run_checked(
      comm, allgather_call(send, send_count, send_type, receive, receive_count, receive_type));
}

Error ineighbor_allgather(const void* send, Count send_count, const Datatype& send_type,
                          void* receive, Count receive_count, const Datatype& receive_type,
                          Comm& comm, MPI_Request& request) {
  return start_call(
      comm, next_tag(comm),
      allgather_call(send, send_count, send_type, receive, receive_count, receive_type), request);
}

Error neighbor_allgather_init(const void* send, Count send_count, const Datatype& send_type,
                              void* receive, Count receive_count, const Datatype& receive_type,
                              Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_call(
      comm, next_persistent_tag(comm),
      allgather_call(send, send_count, send_type, receive, receive_count, receive_type), request);
}

namespace {

NeighborAllgatherv allgatherv_call(const void* send, Count send_count, const Datatype& send_type,
                                   void* receive, CountArray counts, CountArray displs,
                                   const Datatype& receive_type) {
  return {{Form::single,
           Form::v,
           Blocks::equal(ConstData{send, send_count, &send_type}),
           Blocks::various(receive, counts, displs, &receive_type),
           nullptr,
           nullptr,
           {}}};
}

}  // namespace

Error neighbor_allgatherv(const void* send, Count send_count, const Datatype& send_type,
                          void* receive, CountArray counts, CountArray displs,
                          const Datatype& receive_type, Comm& comm) {
  return run_checked(
      comm, allgatherv_call(send, send_count, send_type, receive, counts, displs, receive_type));
}

Error ineighbor_allgatherv(const void* send, Count send_count, const Datatype& send_type,
                           void* receive, CountArray counts, CountArray displs,
                           const Datatype& receive_type, Comm& comm, MPI_Request& request) {
  return start_call(
      comm, next_tag(comm),
      allgatherv_call(send, send_count, send_type, receive, counts, displs, receive_type), request);
}

Error neighbor_allgatherv_init(const void* send, Count send_count, const Datatype& send_type,
                               void* receive, CountArray counts, CountArray displs,
                               const Datatype& receive_type, Comm& comm, Info* /*info*/,
                               MPI_Request& request) {
  return keep_call(
      comm, next_persistent_tag(comm),
      allgatherv_call(send, send_count, send_type, receive, counts, displs, receive_type), request);
}

namespace {

NeighborAlltoall alltoall_call(const void* send, Count send_count, const Datatype& send_type,
                               void* receive, Count receive_count, const Datatype& receive_type) {
  return {{Form::equal,
           Form::equal,
           Blocks::equal(ConstData{send, send_count, &send_type}),
           Blocks::equal(Data{receive, receive_count, &receive_type}),
           nullptr,
           nullptr,
           {}}};
}

}  // namespace

Error neighbor_alltoall(const void* send, Count send_count, const Datatype& send_type,
                        void* receive, Count receive_count, const Datatype& receive_type,
                        Comm& comm) {
  return run_checked(
      comm, alltoall_call(send, send_count, send_type, receive, receive_count, receive_type));
}

Error ineighbor_alltoall(const void* send, Count send_count, const Datatype& send_type,
                         void* receive, Count receive_count, const Datatype& receive_type,
                         Comm& comm, MPI_Request& request) {
  return start_call(
      comm, next_tag(comm),
      alltoall_call(send, send_count, send_type, receive, receive_count, receive_type), request);
}

Error neighbor_alltoall_init(const void* send, Count send_count, const Datatype& send_type,
                             void* receive, Count receive_count, const Datatype& receive_type,
                             Comm& comm, Info* /*info*/, MPI_Request& request) {
  return keep_call(comm, next_persistent_tag(comm),
                   alltoall_call(send, send_count, send_type, receive, receive_count, receive_type),
                   request);
}

namespace {

NeighborAlltoallv alltoallv_call(const void* send, CountArray send_counts, CountArray send_displs,
                                 const Datatype& send_type, void* receive,
                                 CountArray receive_counts, CountArray receive_displs,
                                 const Datatype& receive_type) {
  return {{Form::v,
           Form::v,
           Blocks::various(send, send_counts, send_displs, &send_type),
           Blocks::various(receive, receive_counts, receive_displs, &receive_type),
           nullptr,
           nullptr,
           {}}};
}

}  // namespace

Error neighbor_alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                         const Datatype& send_type, void* receive, CountArray receive_counts,
                         CountArray receive_displs, const Datatype& receive_type, Comm& comm) {
  return run_checked(comm, alltoallv_call(send, send_counts, send_displs, send_type, receive,
                                          receive_counts, receive_displs, receive_type));
}

Error ineighbor_alltoallv(const void* send, CountArray send_counts, CountArray send_displs,
                          const Datatype& send_type, void* receive, CountArray receive_counts,
                          CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                          MPI_Request& request) {
  return start_call(comm, next_tag(comm),
                    alltoallv_call(send, send_counts, send_displs, send_type, receive,
                                   receive_counts, receive_displs, receive_type),
                    request);
}

Error neighbor_alltoallv_init(const void* send, CountArray send_counts, CountArray send_displs,
                              const Datatype& send_type, void* receive, CountArray receive_counts,
                              CountArray receive_displs, const Datatype& receive_type, Comm& comm,
                              Info* /*info*/, MPI_Request& request) {
  return keep_call(comm, next_persistent_tag(comm),
                   alltoallv_call(send, send_counts, send_displs, send_type, receive,
                                  receive_counts, receive_displs, receive_type),
                   request);
}

namespace {

NeighborAlltoallw alltoallw_call(const void* send, CountArray send_counts,
                                 const MPI_Aint* send_displs, const MPI_Datatype* send_types,
                                 void* receive, CountArray receive_counts,
                                 const MPI_Aint* receive_displs,
                                 const MPI_Datatype* receive_types) {
  return {
      {Form::w,
       Form::w,
       Blocks::various(send, send_counts, CountArray(send_displs, CountArray::unknown), nullptr),
       Blocks::various(receive, receive_counts, CountArray(receive_displs, CountArray::unknown),
                       nullptr),
       send_types,
       receive_types,
       {}}};
}

}  // namespace

Error neighbor_alltoallw(const void* send, CountArray send_counts, const MPI_Aint* send_displs,
                         const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                         const MPI_Aint* receive_displs, const MPI_Datatype* receive_types,
                         Comm& comm) {
  return run_checked(comm, alltoallw_call(send, send_counts, send_displs, send_types, receive,
                                          receive_counts, receive_displs, receive_types));
}

Error ineighbor_alltoallw(const void* send, CountArray send_counts, const MPI_Aint* send_displs,
                          const MPI_Datatype* send_types, void* receive, CountArray receive_counts,
                          const MPI_Aint* receive_displs, const MPI_Datatype* receive_types,
                          Comm& comm, MPI_Request& request) {
  return start_call(comm, next_tag(comm),
                    alltoallw_call(send, send_counts, send_displs, send_types, receive,
                                   receive_counts, receive_displs, receive_types),
                    request);
}

Error neighbor_alltoallw_init(const void* send, CountArray send_counts, const MPI_Aint* send_displs,
                              const MPI_Datatype* send_types, void* receive,
                              CountArray receive_counts, const MPI_Aint* receive_displs,
                              const MPI_Datatype* receive_types, Comm& comm, Info* /*info*/,
                              MPI_Request& request) {
  return keep_call(comm, next_persistent_tag(comm),
                   alltoallw_call(send, send_counts, send_displs, send_types, receive,
                                  receive_counts, receive_displs, receive_types),
                   request);
}

}  // namespace fulmar::mpi
