// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/request.h"

#include <new>

#include "mpi/request/whole_elements.h"

namespace fulmar::mpi {
namespace {

base::Error finish_done(Request& /*request*/, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return {};
}

base::Error cancel_done(Request& /*request*/) { return {}; }

constexpr RequestKind done_request{"send", nullptr, finish_done, cancel_done, nullptr};

}  // namespace

base::Error finish_request(Request& request, MPI_Status& status) {
  const base::Error error = request.what->finish(request, status);
  if (request.checked_type == nullptr || error.failed()) return error;
  return check_whole_elements(*request.checked_type, status);
}

void destroy_request(Request& request) noexcept {
  Library& library = *request.library;
  if (request.what->release != nullptr) request.what->release(request);
  Comm* comm = request.comm;
  const Datatype* type = request.type;
  const Datatype* checked_type = request.checked_type;
  library.retire(request);
  if (comm != nullptr) library.release(*comm);
  if (checked_type != nullptr) library.release(const_cast<Datatype&>(*checked_type));
  if (type != nullptr) library.release(const_cast<Datatype&>(*type));
}

base::Error make_done_request_slow(Library& library, Comm& comm, MPI_Request& out) {
  if (library.done_request == nullptr) {
    auto* shared = new (std::nothrow) Request(done_request, library);
    if (shared == nullptr) return no_request_memory();
    shared->shared = true;
    shared->operation.stage = device::Stage::done;
    library.done_request = shared;
    return make_done_request(library, comm, out);
  }
  Request* request = make_request(done_request, comm, {});
  if (request == nullptr) return no_request_memory();
  request->operation.stage = device::Stage::done;
  out = handle_cast<MPI_Request>(*request);
  return {};
}

void abandon_request(Request& request) noexcept {
  request.freed = true;
  if (request.what->free != nullptr) return;
  // The reference that retiring drops is the one that the operation now has.
  request.library->acquire(request);
  request.library->retire(request);
  if (request.operation.is_send) request.library->device->add_unattended();
  if (request.comm != nullptr) ++request.comm->abandoned_requests;
  request.operation.on_done = [](device::Operation& operation) {
    Request& done = Request::of(operation);
    if (operation.is_send) done.library->device->remove_unattended();
    if (done.comm != nullptr) --done.comm->abandoned_requests;
    destroy_request(done);
  };
}

base::Error no_request_memory() {
  return base::failure(base::ErrorClass::no_mem,
                       "no memory for another request; complete or free some of those in use");
}

base::Error report(Comm& comm, const device::Operation& operation, MPI_Status* status) noexcept {
  const device::Outcome& outcome = operation.outcome;
  if (status != nullptr) {
    set_status(status, comm.rank_of(outcome.peer), outcome.tag, static_cast<Count>(outcome.bytes),
               outcome.cancelled ? Cancelled::yes : Cancelled::no);
  }
  if (outcome.error == base::ErrorClass::success) [[likely]]
    return {};
  if (outcome.error == base::ErrorClass::truncate) {
    return base::failure(
        base::ErrorClass::truncate,
        "the message from rank %d with tag %d is longer than the receive buffer of %llu "
        "bytes; receive with a larger count, or probe for the length first",
        comm.rank_of(outcome.peer), outcome.tag,
        static_cast<unsigned long long>(operation.buffer.bytes));
  }
  return base::Error(outcome.error);
}

}  // namespace fulmar::mpi
