// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/generalized.h"

#include <new>

#include "mpi/errhandler/user_function.h"
#include "mpi/request/calls.h"

namespace fulmar::mpi {
namespace {

/// The user's side of a generalized request; Request::extra.
struct Callbacks {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

Callbacks& callbacks_of(const Request& request) { return *static_cast<Callbacks*>(request.extra); }

/// Calls a function of the user without the lock, so that it may wait for another thread that is in
/// MPI. The reference keeps the request.
template <class Function>
base::Error call_user(Request& request, Function function) {
  base::EngineLock& lock = request.library->lock;
  ++request.references;
  const UserFunctionScope scope;
  const std::uint32_t depth = lock.suspend();
  const int code = function();
  lock.resume(depth);
  --request.references;
  return base::Error::from_code(code);
}

base::Error query(Request& request, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  const Callbacks& callbacks = callbacks_of(request);
  if (callbacks.query == nullptr) return {};
  return call_user(request, [&] { return callbacks.query(callbacks.extra_state, &status); });
}

base::Error free_user(Request& request) {
  const Callbacks& callbacks = callbacks_of(request);
  if (callbacks.free == nullptr) return {};
  return call_user(request, [&] { return callbacks.free(callbacks.extra_state); });
}

base::Error cancel_user(Request& request) {
  const Callbacks& callbacks = callbacks_of(request);
  if (callbacks.cancel == nullptr) return {};
  const int complete = request.complete() ? 1 : 0;
  return call_user(request, [&] { return callbacks.cancel(callbacks.extra_state, complete); });
}

void release(Request& request) { delete &callbacks_of(request); }

}  // namespace

constinit const RequestKind generalized_request{"generalized request", nullptr, query,
                                                cancel_user,           release, free_user};

base::Error grequest_start(Library& library, MPI_Grequest_query_function* query_function,
                           MPI_Grequest_free_function* free_function,
                           MPI_Grequest_cancel_function* cancel_function, void* extra_state,
                           MPI_Request& out) {
  auto* callbacks =
      new (std::nothrow) Callbacks{query_function, free_function, cancel_function, extra_state};
  if (callbacks == nullptr) return no_request_memory();
  auto* request = library.make<Request>(generalized_request, library);
  if (request == nullptr) {
    delete callbacks;
    return no_request_memory();
  }
  request->extra = callbacks;
  out = handle_cast<MPI_Request>(*request);
  return {};
}

base::Error grequest_complete(Request& request) {
  if (request.what != &generalized_request) {
    return base::failure(base::ErrorClass::request,
                         "the request is a %s; only what MPI_Grequest_start made is completed so",
                         request.what->name);
  }
  if (request.complete()) {
    return base::failure(base::ErrorClass::request, "the generalized request is complete already");
  }
  request.library->device->complete(request.operation);
  if (!request.freed) return {};
  const base::Error error = free_user(request);
  destroy_request(request);
  return error;
}

}  // namespace fulmar::mpi
