// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/failure.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/matched.h"
#include "mpi/p2p/message.h"
#include "mpi/p2p/requests.h"

// Probe and matched receives (MPI 5.0 section 3.8).

namespace fulmar::mpi {
namespace {

using device::Arrival;

void describe(Comm& comm, const Arrival& arrival, MPI_Status* status) {
  set_status(status, comm.rank_of(arrival.key().peer), arrival.key().tag,
             static_cast<Count>(arrival.length));
}

Arrival* look(Comm& comm, const match::Key& key) {
  if (Arrival* arrival = comm.device->find_arrival(key); arrival != nullptr) return arrival;
  comm.device->poll({device::WaitNote::Kind::arrival, &key});
  return comm.device->find_arrival(key);
}

/// The error of a probe that found nothing, if no message can arrive any more.
base::Error nothing_comes(Comm& comm, const match::Key& key) {
  const auto obstacle = comm.device->failures().obstacle_for(key);
  return obstacle ? obstacle_error(comm, *obstacle) : base::Error{};
}

/// nullptr: no message can arrive any more.
Arrival* await(Comm& comm, const match::Key& key) {
  Arrival* arrival = nullptr;
  comm.device->wait(
      [&]() noexcept {
        arrival = comm.device->find_arrival(key);
        return arrival != nullptr || comm.device->failures().obstacle_for(key).has_value();
      },
      {device::WaitNote::Kind::arrival, &key});
  return arrival;
}

base::Error take(Comm& comm, Arrival& arrival, MPI_Message& out, MPI_Status* status) {
  auto* message = comm.library->make<Message>(comm, arrival);
  if (message == nullptr) {
    return base::failure(base::ErrorClass::no_mem, "no memory for another matched message");
  }
  comm.device->take_arrival(arrival);
  out = handle_cast<MPI_Message>(*message);
  describe(comm, arrival, status);
  return {};
}

/// The end of a message object: its arrival goes to a receive.
Arrival& consume(Handle<Message> handle) {
  Message& message = *handle.object;
  Arrival& arrival = *message.arrival;
  Library& library = *message.comm->library;
  *handle.where = MPI_MESSAGE_NULL;
  Comm& comm = *message.comm;
  library.retire(message);
  library.release(comm);
  return arrival;
}

}  // namespace

base::Error probe(int source, int tag, Comm& comm, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  const match::Key key = comm.key_from(source, tag);
  const Arrival* arrival = await(comm, key);
  if (arrival == nullptr) return nothing_comes(comm, key);
  describe(comm, *arrival, status);
  return {};
}

base::Error iprobe(int source, int tag, Comm& comm, int& flag, MPI_Status* status) {
  flag = 1;
  if (source == MPI_PROC_NULL) {
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  const match::Key key = comm.key_from(source, tag);
  const Arrival* arrival = look(comm, key);
  flag = arrival != nullptr ? 1 : 0;
  if (arrival == nullptr) return nothing_comes(comm, key);
  describe(comm, *arrival, status);
  return {};
}

base::Error mprobe(int source, int tag, Comm& comm, MPI_Message& message, MPI_Status* status) {
  if (source == MPI_PROC_NULL) {
    message = MPI_MESSAGE_NO_PROC;
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  const match::Key key = comm.key_from(source, tag);
  Arrival* arrival = await(comm, key);
  return arrival != nullptr ? take(comm, *arrival, message, status) : nothing_comes(comm, key);
}

base::Error improbe(int source, int tag, Comm& comm, int& flag, MPI_Message& message,
                    MPI_Status* status) {
  flag = 1;
  if (source == MPI_PROC_NULL) {
    message = MPI_MESSAGE_NO_PROC;
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  const match::Key key = comm.key_from(source, tag);
  Arrival* arrival = look(comm, key);
  flag = arrival != nullptr ? 1 : 0;
  return arrival != nullptr ? take(comm, *arrival, message, status) : nothing_comes(comm, key);
}

base::Error mrecv(const Data& data, Handle<Message> message, MPI_Status* status) {
  if (message.object == nullptr) {
    *message.where = MPI_MESSAGE_NULL;
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return {};
  }
  Comm& comm = *message.object->comm;
  Library& library = *comm.library;
  library.acquire(comm);
  Transfer transfer;
  transfer.operation.buffer = buffer_of({data.address, data.count, data.type}, transfer.packer);
  comm.device->receive_taken(transfer.operation, consume(message));
  comm.device->wait_done(transfer.operation);
  const base::Error error = report(comm, transfer.operation, status);
  library.release(comm);
  return error;
}

base::Error imrecv(Library& library, const Data& data, Handle<Message> message, MPI_Request& out) {
  const ConstData buffer{data.address, data.count, data.type};
  const bool from_proc_null = message.object == nullptr;
  Comm& comm = from_proc_null ? *library.find<Comm>(MPI_COMM_SELF) : *message.object->comm;
  Request* request =
      make_request(from_proc_null ? null_receive_request : receive_request, comm, buffer);
  if (request == nullptr) return no_request_memory();
  out = handle_cast<MPI_Request>(*request);
  if (from_proc_null) {
    *message.where = MPI_MESSAGE_NULL;
    request->operation.stage = device::Stage::done;
    return {};
  }
  request->operation.buffer = buffer_of(buffer, request->packer);
  comm.device->receive_taken(request->operation, consume(message));
  return {};
}

}  // namespace fulmar::mpi
