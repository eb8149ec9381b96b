// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/p2p/send_now.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 3; see mpi/args.h for the form of the parameters. Those on
// requests and statuses: mpi/request/calls.h.

[[gnu::always_inline]] inline base::Error send(const ConstData& data, int dest, int tag,
                                               Comm& comm) {
  if (send_at_once(data, dest, tag, comm)) [[likely]]
    return {};
  return send_slow(data, dest, tag, comm, device::SendMode::standard);
}
base::Error ssend(const ConstData& data, int dest, int tag, Comm& comm);
base::Error rsend(const ConstData& data, int dest, int tag, Comm& comm);
base::Error bsend(const ConstData& data, int dest, int tag, Comm& comm);
base::Error recv(const Data& data, int source, int tag, Comm& comm, MPI_Status* status);
base::Error isend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error issend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error irsend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error ibsend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error irecv(const Data& data, int source, int tag, Comm& comm, MPI_Request& request);

base::Error send_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error ssend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error rsend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error bsend_init(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& request);
base::Error recv_init(const Data& data, int source, int tag, Comm& comm, MPI_Request& request);

base::Error sendrecv(const ConstData& send, int dest, int send_tag, const Data& receive, int source,
                     int receive_tag, Comm& comm, MPI_Status* status);
base::Error sendrecv_replace(const Data& data, int dest, int send_tag, int source, int receive_tag,
                             Comm& comm, MPI_Status* status);
base::Error isendrecv(const ConstData& send, int dest, int send_tag, const Data& receive,
                      int source, int receive_tag, Comm& comm, MPI_Request& request);
base::Error isendrecv_replace(const Data& data, int dest, int send_tag, int source, int receive_tag,
                              Comm& comm, MPI_Request& request);

// Chapter 4. MPI_Pready and MPI_Parrived are called without the lock of the library.
base::Error psend_init(Library& library, const void* buffer, int partitions, Count count,
                       Datatype& type, int dest, int tag, Comm& comm, Info* info,
                       MPI_Request& request);
base::Error precv_init(Library& library, void* buffer, int partitions, Count count, Datatype& type,
                       int source, int tag, Comm& comm, Info* info, MPI_Request& request);
base::Error pready(Library& library, int partition, Request& request);
base::Error pready_range(Library& library, int low, int high, Request& request);
base::Error pready_list(Library& library, int length, std::span<const int> partitions,
                        Request& request);
/// Null and inactive requests have all their partitions.
base::Error parrived(Library& library, Request* request, int partition, int& flag);

base::Error probe(int source, int tag, Comm& comm, MPI_Status* status);
base::Error iprobe(int source, int tag, Comm& comm, int& flag, MPI_Status* status);
base::Error mprobe(int source, int tag, Comm& comm, MPI_Message& message, MPI_Status* status);
base::Error improbe(int source, int tag, Comm& comm, int& flag, MPI_Message& message,
                    MPI_Status* status);
base::Error mrecv(const Data& data, Handle<Message> message, MPI_Status* status);
base::Error imrecv(Library& library, const Data& data, Handle<Message> message,
                   MPI_Request& request);

base::Error buffer_attach(Library& library, void* buffer, Count size);
base::Error buffer_detach(Library& library, void*& buffer, CountOut size);
base::Error buffer_flush(Library& library);
base::Error buffer_iflush(Library& library, MPI_Request& request);
base::Error comm_attach_buffer(Comm& comm, void* buffer, Count size);
base::Error comm_detach_buffer(Comm& comm, void*& buffer, CountOut size);
base::Error comm_flush_buffer(Comm& comm);
base::Error comm_iflush_buffer(Comm& comm, MPI_Request& request);

}  // namespace fulmar::mpi
