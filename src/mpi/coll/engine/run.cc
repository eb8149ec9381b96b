// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/run.h"

#include "mpi/coll/check/collective_check.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/coll/stand_in.h"
#include "mpi/comm/world.h"

namespace fulmar::mpi {
namespace {

CollRequest& kept_call_of(const Request& request) {
  return *static_cast<CollRequest*>(request.extra);
}

Request* make_call_request(const RequestKind& kind, Comm& comm, CollRequest* kept) {
  Request* request = kept == nullptr ? nullptr : make_request(kind, comm, {});
  if (request == nullptr) {
    delete kept;
    return nullptr;
  }
  request->extra = kept;
  return request;
}

}  // namespace

CollRequest::CollRequest(Comm& comm, int tag) noexcept
    : comm_(comm), announced_(std::move(comm.library->schedules->announced)), tag_(tag) {}

CollRequest::~CollRequest() = default;

void CollRequest::keep(std::unique_ptr<StandIn> stand_in) noexcept {
  stand_in_ = std::move(stand_in);
}

void leave_call_running(Library& library, MPI_Request handle, std::unique_ptr<StandIn> stand_in) {
  Request& request = *library.find<Request>(handle);
  kept_call_of(request).keep(std::move(stand_in));
  if (request.complete()) return destroy_request(request);
  library.acquire(request);
  library.retire(request);
  library.device->add_unattended();
  request.operation.on_done = [](device::Operation& operation) {
    Request& done = Request::of(operation);
    done.library->device->remove_unattended();
    destroy_request(done);
  };
}

bool compares_counts(const Comm& comm) noexcept {
  return comm.library->world->compares_calls && (comm.is_inter || comm.size() > 1);
}

CollTask CollRequest::compare_and_run(CollContext& exchange, const CollRequest& call) {
  co_await CollectiveCall::compare_first(exchange, *call.announced_);
  if (exchange.result().failed()) co_return;
  co_await call.algorithm(exchange);
}

void CollRequest::acquire(const Held& held) noexcept {
  Library& library = *comm_.library;
  const auto acquire_one = [&](const Datatype* type) {
    if (type != nullptr) library.acquire(const_cast<Datatype&>(*type));
  };
  for (const Datatype* type : held.types) acquire_one(type);
  for (const Datatype* type : held.more_types) acquire_one(type);
  if (held.op != nullptr) library.acquire(const_cast<Op&>(*held.op));
  calls_user_ = calls_user(held);
}

void CollRequest::release(const Held& held) noexcept {
  Library& library = *comm_.library;
  const auto release_one = [&](const Datatype* type) {
    if (type != nullptr) library.release(const_cast<Datatype&>(*type));
  };
  for (const Datatype* type : held.types) release_one(type);
  for (const Datatype* type : held.more_types) release_one(type);
  if (held.op != nullptr) library.release(const_cast<Op&>(*held.op));
}

base::Error start_coll_request(Request& request) {
  kept_call_of(request).start(request.operation);
  return {};
}

base::Error finish_coll_request(Request& request, MPI_Status& status) {
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  return kept_call_of(request).result();
}

void release_coll_request(Request& request) { delete &kept_call_of(request); }

base::Error make_nonblocking_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                     MPI_Request& out) {
  Request* request = make_call_request(kind, comm, kept);
  if (request == nullptr) return no_request_memory();
  out = handle_cast<MPI_Request>(*request);
  kept->keep_arrays();
  kept->start(request->operation);
  return {};
}

base::Error make_failed_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                const base::Error& error, MPI_Request& out) {
  Request* request = make_call_request(kind, comm, kept);
  if (request == nullptr) return no_request_memory();
  kept->note(error);
  request->operation.stage = device::Stage::done;
  out = handle_cast<MPI_Request>(*request);
  return {};
}

base::Error make_persistent_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                    MPI_Request& out) {
  Request* request = make_call_request(kind, comm, kept);
  if (request == nullptr) return no_request_memory();
  kept->keep_arrays();
  request->persistent = true;
  request->active = false;
  out = handle_cast<MPI_Request>(*request);
  return {};
}

}  // namespace fulmar::mpi
