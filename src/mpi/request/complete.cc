// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/complete.h"

#include <new>

#include "mpi/errhandler/raise.h"

namespace fulmar::mpi {
namespace {

/// The object whose error handler is used for a request that may be about to end: its file, window
/// or communicator, unless that was freed and ends with the request; then as for errors that belong
/// to no object.
[[gnu::cold]] Object* lasting_target(const Request& request) {
  if (request.target != nullptr) {
    return request.target->references > 1 ? request.target : default_holder(*request.library);
  }
  if (request.comm != nullptr && (request.comm->predefined || request.comm->references > 1)) {
    return request.comm;
  }
  return default_holder(*request.library);
}

}  // namespace

base::Error complete_request_slow(ErrorTarget& target, Request& request, MPI_Request& handle,
                                  MPI_Status* status) {
  if (request.shared) {
    end_done_request(*request.library, handle);
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    return {};
  }
  MPI_Status ignored;
  base::Error error = finish_request(request, status != nullptr ? *status : ignored);
  if (error.failed()) [[unlikely]]
    target.object = lasting_target(request);
  if (is_interrupted(request)) [[unlikely]]
    return error;
  if (request.persistent) {
    request.active = false;
    request.told = false;
    request.operation.stage = device::Stage::idle;
    return error;
  }
  if (request.what->free != nullptr) [[unlikely]] {
    const base::Error freed = request.what->free(request);
    if (freed.failed()) {
      error = freed;
      target.object = lasting_target(request);
    }
  }
  handle = MPI_REQUEST_NULL;
  destroy_request(request);
  return error;
}

base::Error no_request(std::span<const MPI_Request> handles, std::size_t index) {
  return base::failure(base::ErrorClass::request,
                       "argument array_of_requests: entry %zu, %p, is the handle of no request; it "
                       "was completed or freed, or never made",
                       index, static_cast<const void*>(handles[index]));
}

Request* request_at(const Library& library, std::span<const MPI_Request> handles, std::size_t index,
                    base::Error& wrong) {
  auto* request = library.find<Request>(handles[index]);
  if (request == nullptr && handles[index] != MPI_REQUEST_NULL) [[unlikely]] {
    wrong = no_request(handles, index);
  }
  return request;
}

base::Error RequestList::resolve(const Library& library, std::span<const MPI_Request> handles) {
  if (handles.size() > few) {
    many_ = new (std::nothrow) Request*[handles.size()];
    if (many_ == nullptr) {
      return base::failure(base::ErrorClass::no_mem, "no memory for a list of %zu requests",
                           handles.size());
    }
    list_ = many_;
  }
  size_ = handles.size();
  base::Error wrong;
  for (std::size_t i = 0; i < size_; ++i) {
    Request* request = request_at(library, handles, i, wrong);
    if (wrong.failed()) [[unlikely]]
      return wrong;
    list_[i] = request != nullptr && request->active ? request : nullptr;
    if (list_[i] != nullptr) ++active_;
  }
  return {};
}

void StatusWriter::add(Request& request, MPI_Request& handle) {
  ErrorTarget target;
  const base::Error error = complete_request(target, request, handle, slot());
  if (error.failed() && failures_ == 0) target_.object = target.object;
  add_result(error);
}

void StatusWriter::add_failure(base::Error error) {
  if (failures_ == 0) {
    first_failure_ = count_;
    first_error_ = error;
    for (std::size_t i = 0; statuses_ != nullptr && i < count_; ++i) {
      statuses_[i].MPI_ERROR = MPI_SUCCESS;
    }
  }
  if (error.failed()) ++failures_;
  if (statuses_ != nullptr) statuses_[count_].MPI_ERROR = error.code();
}

base::Error StatusWriter::in_status() const {
  target_.cause = first_error_;
  return base::failure(base::ErrorClass::in_status,
                       "%zu of %zu operations failed; the first is number %zu: %s: %s", failures_,
                       count_, first_failure_, base::error_class_name(first_error_.error_class()),
                       first_error_.text().c_str());
}

}  // namespace fulmar::mpi
