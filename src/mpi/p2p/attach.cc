// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <new>

#include "mpi/p2p/buffered.h"
#include "mpi/p2p/calls.h"
#include "mpi/p2p/requests.h"

// Attaching and detaching buffers, and the sends that use them (MPI 5.0 section 3.6).

namespace fulmar::mpi {
namespace {

base::Error finish_flush(Request& /*request*/, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return {};
}

constexpr RequestKind flush_request{"flush of a send buffer", nullptr, finish_flush, nullptr,
                                    nullptr};

}  // namespace

base::Error attach_buffer(device::Device& device, SendBuffer*& place, void* memory, Count bytes) {
  if (place != nullptr) {
    return base::failure(base::ErrorClass::buffer, "a buffer is attached already; detach it first");
  }
  if (memory == nullptr && bytes > 0) {
    return base::failure(base::ErrorClass::buffer,
                         "argument buffer: null pointer to %lld bytes; give memory or "
                         "MPI_BUFFER_AUTOMATIC",
                         static_cast<long long>(bytes));
  }
  place = new (std::nothrow) SendBuffer(device, memory, bytes);
  if (place != nullptr) return {};
  return base::failure(base::ErrorClass::no_mem, "no memory for the description of a send buffer");
}

base::Error detach_buffer(SendBuffer*& place, void*& memory, const CountOut& bytes) {
  if (place == nullptr) {
    memory = nullptr;
    return bytes.set(0);
  }
  place->wait_idle();
  memory = place->memory();
  const Count size = place->automatic() ? 0 : place->bytes();
  drop_send_buffer(place);
  return bytes.set(size);
}

void flush_buffer(SendBuffer* buffer) noexcept {
  if (buffer != nullptr) buffer->wait_idle();
}

base::Error iflush_buffer(Library& library, SendBuffer* buffer, Comm* comm, MPI_Request& out) {
  auto* request = library.make<Request>(flush_request, library);
  if (request == nullptr) return no_request_memory();
  if (comm != nullptr) {
    request->comm = comm;
    library.acquire(*comm);
  }
  out = handle_cast<MPI_Request>(*request);
  if (buffer != nullptr) {
    buffer->flush_into(*request);
  } else {
    request->operation.stage = device::Stage::done;
  }
  return {};
}

base::Error buffer_attach(Library& library, void* buffer, Count size) {
  return attach_buffer(*library.device, library.send_buffer, buffer, size);
}

base::Error buffer_detach(Library& library, void*& buffer, CountOut size) {
  return detach_buffer(library.send_buffer, buffer, size);
}

base::Error buffer_flush(Library& library) {
  flush_buffer(library.send_buffer);
  return {};
}

base::Error buffer_iflush(Library& library, MPI_Request& request) {
  return iflush_buffer(library, library.send_buffer, nullptr, request);
}

base::Error comm_attach_buffer(Comm& comm, void* buffer, Count size) {
  comm.abandon_buffer = [](SendBuffer& attached) noexcept { attached.abandon(); };
  return attach_buffer(*comm.device, comm.send_buffer, buffer, size);
}

base::Error comm_detach_buffer(Comm& comm, void*& buffer, CountOut size) {
  return detach_buffer(comm.send_buffer, buffer, size);
}

base::Error comm_flush_buffer(Comm& comm) {
  flush_buffer(comm.send_buffer);
  return {};
}

base::Error comm_iflush_buffer(Comm& comm, MPI_Request& request) {
  return iflush_buffer(*comm.library, comm.send_buffer, &comm, request);
}

base::Error bsend(const ConstData& data, int dest, int tag, Comm& comm) {
  if (dest == MPI_PROC_NULL) return {};
  std::optional<TypePacker> packer;
  const base::Error error = send_buffered(comm, comm.key_to(dest, tag), buffer_of(data, packer));
  comm.device->release_held();  // the buffer is ours now: no other call of the user has to follow
  return error;
}

base::Error ibsend(const ConstData& data, int dest, int tag, Comm& comm, MPI_Request& out) {
  if (const base::Error error = make_done_request(*comm.library, comm, out); error.failed()) {
    return error;
  }
  const base::Error error = bsend(data, dest, tag, comm);
  if (error.failed()) end_done_request(*comm.library, out);
  return error;
}

}  // namespace fulmar::mpi
