// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/calls.h"
#include "mpi/request/complete.h"

// MPI_Request_get_status and its forms for several requests (MPI 5.0 section 3.7.6): as the test
// calls, but the requests stay.

namespace fulmar::mpi {
namespace {

/// Of a request that stays: its file, window or communicator.
Object* error_target(const Request& request) noexcept {
  return request.target != nullptr ? request.target : request.comm;
}

base::Error peek(Request& request, MPI_Status* status) {
  MPI_Status ignored;
  request.told = true;
  return finish_request(request, status != nullptr ? *status : ignored);
}

void peek(StatusWriter& writer, ErrorTarget& target, Request& request) {
  const base::Error error = peek(request, writer.slot());
  if (error.failed() && target.object == nullptr) {
    target.object = error_target(request);
  }
  writer.add_result(error);
}

}  // namespace

base::Error request_get_status(Library& library, Request* request, int& flag, MPI_Status* status) {
  flag = 1;
  if (request == nullptr || !request->active) {
    set_empty_status(status);
    return {};
  }
  if (!request->complete()) {
    library.device->poll({device::WaitNote::Kind::request, &request->operation});
    if (!request->complete()) {
      flag = 0;
      return {};
    }
  }
  return peek(*request, status);
}

base::Error request_get_status_any(Library& library, ErrorTarget& target, int /*count*/,
                                   std::span<const MPI_Request> requests, int& index, int& flag,
                                   MPI_Status* status) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  index = MPI_UNDEFINED;
  if (list.active() == 0) {
    flag = 1;
    set_empty_status(status);
    return {};
  }
  if (list.first_complete() == RequestList::none) library.device->poll();
  const std::size_t found = list.first_complete();
  flag = found != RequestList::none ? 1 : 0;
  if (flag == 0) return {};
  index = static_cast<int>(found);
  target.object = error_target(*list[found]);
  return peek(*list[found], status);
}

base::Error request_get_status_some(Library& library, ErrorTarget& target, int /*count*/,
                                    std::span<const MPI_Request> requests, int& completed,
                                    std::span<int> indices, MPI_Status* statuses) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  if (list.active() == 0) {
    completed = MPI_UNDEFINED;
    return {};
  }
  if (list.first_complete() == RequestList::none) library.device->poll();
  StatusWriter writer(target, statuses);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == nullptr || !list[i]->complete()) continue;
    indices[writer.count()] = static_cast<int>(i);
    peek(writer, target, *list[i]);
  }
  completed = static_cast<int>(writer.count());
  return writer.result();
}

base::Error request_get_status_all(Library& library, ErrorTarget& target, int /*count*/,
                                   std::span<const MPI_Request> requests, int& flag,
                                   MPI_Status* statuses) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  if (const Request* open = list.first_incomplete(); open != nullptr) {
    library.device->poll({device::WaitNote::Kind::request, &open->operation});
  }
  flag = list.first_incomplete() == nullptr ? 1 : 0;
  if (flag == 0) return {};
  StatusWriter writer(target, statuses);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] != nullptr) {
      peek(writer, target, *list[i]);
    } else {
      writer.add_empty();
    }
  }
  return writer.result();
}

}  // namespace fulmar::mpi
