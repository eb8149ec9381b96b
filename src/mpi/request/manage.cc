// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm/failure.h"
#include "mpi/errhandler/raise.h"
#include "mpi/request/calls.h"
#include "mpi/request/complete.h"
#include "mpi/request/generalized.h"

// Starting, freeing and cancelling requests.

namespace fulmar::mpi {
namespace {

base::Error check_startable(const Request& request) {
  if (request.what->start == nullptr) {
    return base::failure(
        base::ErrorClass::request,
        "the request is a %s, not a persistent one; only requests made by an _init "
        "function can be started",
        request.what->name);
  }
  if (request.active) {
    return base::failure(base::ErrorClass::request,
                         "the %s is active already; complete it before it is started again",
                         request.what->name);
  }
  return {};
}

base::Error start_request(Request& request) {
  if (request.comm != nullptr && request.comm->revoked) return revoked_error(*request.comm);
  request.active = true;
  const base::Error error = request.what->start(request);
  if (error.failed()) request.active = false;
  return error;
}

}  // namespace

base::Error start(Handle<Request> request) {
  if (const base::Error error = check_startable(*request.object); error.failed()) return error;
  return start_request(*request.object);
}

base::Error startall(Library& library, ErrorTarget& target, int /*count*/,
                     std::span<MPI_Request> requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    base::Error wrong;
    const Request* request = request_at(library, requests, i, wrong);
    if (wrong.failed()) return wrong;
    if (request == nullptr) {
      return base::failure(base::ErrorClass::request,
                           "argument array_of_requests: entry %zu is MPI_REQUEST_NULL", i);
    }
    target.object = request->comm;
    if (const base::Error error = check_startable(*request); error.failed()) return error;
  }
  for (MPI_Request& handle : requests) {
    Request& request = *library.find<Request>(handle);
    target.object = request.comm;
    if (const base::Error error = start_request(request); error.failed()) return error;
  }
  return {};
}

base::Error request_free(Library& library, ErrorTarget& target, Handle<Request> handle) {
  Request& request = *handle.object;
  if (request.shared) {
    end_done_request(library, *handle.where);
    return {};
  }
  if (is_interrupted(request)) request.comm->device->failures().resume(request.operation);
  if (request.active && request.what->must_complete && !request.told) {
    return base::failure(base::ErrorClass::request,
                         "the %s is active; a collective operation cannot be given up, complete it "
                         "with a wait or test call",
                         request.what->name);
  }
  if (request.active && !request.complete() && request.what->abandon != nullptr) {
    if (const base::Error error = request.what->abandon(request); error.failed()) return error;
  }
  *handle.where = MPI_REQUEST_NULL;
  if (request.active && !request.complete()) {
    abandon_request(request);
    return {};
  }
  base::Error error;
  if (request.what->free != nullptr) error = request.what->free(request);
  if (error.failed()) target.object = default_holder(library);
  destroy_request(request);
  return error;
}

base::Error cancel(Handle<Request> handle) {
  Request& request = *handle.object;
  if (!request.active) {
    return base::failure(base::ErrorClass::request,
                         "the %s is not active; start it before it is cancelled",
                         request.what->name);
  }
  if (request.what->cancel == nullptr) {
    return base::failure(base::ErrorClass::request, "a %s cannot be cancelled", request.what->name);
  }
  if (is_interrupted(request)) request.comm->device->failures().resume(request.operation);
  return request.what->cancel(request);
}

}  // namespace fulmar::mpi
