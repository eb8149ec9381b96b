// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/calls.h"
#include "mpi/request/complete.h"

namespace fulmar::mpi {

/// Returns when an active request is complete.
static void await(Library& library, Request& request) noexcept {
  if (!request.complete() && request.what->help != nullptr) [[unlikely]]
    request.what->help(request);
  library.device->wait_done(request.operation, device::WaitNote::Kind::request);
}

base::Error wait(Library& library, ErrorTarget& target, Handle<Request> request,
                 MPI_Status* status) {
  if (request.object == nullptr || !request.object->active) {
    set_empty_status(status);
    return {};
  }
  await(library, *request.object);
  return complete_request(target, *request.object, *request.where, status);
}

base::Error waitany(Library& library, ErrorTarget& target, int /*count*/,
                    std::span<MPI_Request> requests, int& index, MPI_Status* status) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  if (list.active() == 0) {
    index = MPI_UNDEFINED;
    set_empty_status(status);
    return {};
  }
  std::size_t found = RequestList::none;
  library.device->wait([&]() noexcept {
    found = list.first_complete();
    return found != RequestList::none;
  });
  index = static_cast<int>(found);
  return complete_request(target, *list[found], requests[found], status);
}

/// Completes all requests that are done; used by the test form too.
static base::Error complete_some(ErrorTarget& target, const RequestList& list,
                                 std::span<MPI_Request> requests, int& completed,
                                 std::span<int> indices, MPI_Status* statuses) {
  StatusWriter writer(target, statuses);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == nullptr || !list[i]->complete()) continue;
    indices[writer.count()] = static_cast<int>(i);
    writer.add(*list[i], requests[i]);
  }
  completed = static_cast<int>(writer.count());
  return writer.result();
}

base::Error waitsome(Library& library, ErrorTarget& target, int /*count*/,
                     std::span<MPI_Request> requests, int& completed, std::span<int> indices,
                     MPI_Status* statuses) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  if (list.active() == 0) {
    completed = MPI_UNDEFINED;
    return {};
  }
  library.device->wait([&]() noexcept { return list.first_complete() != RequestList::none; });
  return complete_some(target, list, requests, completed, indices, statuses);
}

base::Error testsome(Library& library, ErrorTarget& target, int /*count*/,
                     std::span<MPI_Request> requests, int& completed, std::span<int> indices,
                     MPI_Status* statuses) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  if (list.active() == 0) {
    completed = MPI_UNDEFINED;
    return {};
  }
  if (list.first_complete() == RequestList::none) library.device->poll();
  return complete_some(target, list, requests, completed, indices, statuses);
}

base::Error waitall(Library& library, ErrorTarget& target, int /*count*/,
                    std::span<MPI_Request> requests, MPI_Status* statuses) {
  // All handles are checked before the first wait, which a wrong one must not turn into a hang.
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (library.find<Request>(requests[i]) == nullptr && requests[i] != MPI_REQUEST_NULL)
        [[unlikely]] {
      return no_request(requests, i);
    }
  }
  StatusWriter writer(target, statuses);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (library.done_handles.give_back(reinterpret_cast<std::uintptr_t>(requests[i]))) {
      requests[i] = MPI_REQUEST_NULL;
      writer.add_done_send();
      continue;
    }
    auto* request = library.find<Request>(requests[i]);
    if (request == nullptr || !request->active) [[unlikely]] {
      if (request == nullptr && requests[i] != MPI_REQUEST_NULL) {
        return no_request(requests, i);  // the same handle twice
      }
      writer.add_empty();
      continue;
    }
    await(library, *request);
    writer.add(*request, requests[i]);
  }
  return writer.result();
}

base::Error test(Library& library, ErrorTarget& target, Handle<Request> request, int& flag,
                 MPI_Status* status) {
  flag = 1;
  if (request.object == nullptr || !request.object->active) {
    set_empty_status(status);
    return {};
  }
  if (!request.object->complete()) {
    library.device->poll({device::WaitNote::Kind::request, &request.object->operation});
    if (!request.object->complete()) {
      flag = 0;
      return {};
    }
  }
  return complete_request(target, *request.object, *request.where, status);
}

base::Error testany(Library& library, ErrorTarget& target, int /*count*/,
                    std::span<MPI_Request> requests, int& index, int& flag, MPI_Status* status) {
  RequestList list;
  if (const base::Error error = list.resolve(library, requests); error.failed()) return error;
  index = MPI_UNDEFINED;
  if (list.active() == 0) {
    flag = 1;
    set_empty_status(status);
    return {};
  }
  std::size_t found = list.first_complete();
  if (found == RequestList::none) {
    library.device->poll();
    found = list.first_complete();
  }
  flag = found != RequestList::none ? 1 : 0;
  if (flag == 0) return {};
  index = static_cast<int>(found);
  return complete_request(target, *list[found], requests[found], status);
}

base::Error testall(Library& library, ErrorTarget& target, int /*count*/,
                    std::span<MPI_Request> requests, int& flag, MPI_Status* statuses) {
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
      writer.add(*list[i], requests[i]);
    } else {
      writer.add_empty();
    }
  }
  return writer.result();
}

}  // namespace fulmar::mpi
