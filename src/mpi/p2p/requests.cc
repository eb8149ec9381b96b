// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/requests.h"

#include "mpi/comm/failure.h"

namespace fulmar::mpi {
namespace {

base::Error finish_send(Request& request, MPI_Status& status) {
  const device::Outcome& outcome = request.operation.outcome;
  set_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0,
             outcome.cancelled ? Cancelled::yes : Cancelled::no);
  if (outcome.error == base::ErrorClass::success) [[likely]]
    return {};
  return operation_error(*request.comm, request.operation);
}

base::Error finish_receive(Request& request, MPI_Status& status) {
  return report(*request.comm, request.operation, &status);
}

base::Error finish_null_receive(Request& /*request*/, MPI_Status& status) {
  set_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  return {};
}

base::Error cancel_operation(Request& request) {
  request.comm->device->cancel(request.operation);
  return {};
}

base::Error start_send(Request& request) {
  request.comm->device->start_send(request.operation);
  return {};
}

base::Error start_receive(Request& request) {
  request.operation.outcome = {};
  request.comm->device->start_receive(request.operation);
  return {};
}

base::Error start_nothing(Request& request) {
  request.operation.stage = device::Stage::done;
  return {};
}

}  // namespace

bool is_interruptible(const Library& library, const device::Operation& receive) noexcept {
  const Request& request = Request::of(const_cast<device::Operation&>(receive));
  return library.holds(&request) && &request.operation == &receive &&
         (request.what == &receive_request || request.what == &persistent_receive_request);
}

constinit const RequestKind send_request{"send",  nullptr, finish_send, cancel_operation,
                                         nullptr, nullptr, true};
constinit const RequestKind receive_request{
    "receive", nullptr, finish_receive, cancel_operation, nullptr, nullptr, true};
constinit const RequestKind null_receive_request{"receive from MPI_PROC_NULL", nullptr,
                                                 finish_null_receive, cancel_operation, nullptr};

constinit const RequestKind persistent_send_request{"persistent send", start_send, finish_send,
                                                    cancel_operation, nullptr};
constinit const RequestKind persistent_receive_request{"persistent receive", start_receive,
                                                       finish_receive, cancel_operation, nullptr};
constinit const RequestKind persistent_null_send_request{
    "persistent send to MPI_PROC_NULL", start_nothing, finish_send, cancel_operation, nullptr};
constinit const RequestKind persistent_null_receive_request{"persistent receive from MPI_PROC_NULL",
                                                            start_nothing, finish_null_receive,
                                                            cancel_operation, nullptr};

}  // namespace fulmar::mpi
