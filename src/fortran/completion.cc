// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/pending.h"
#include "fortran/report.h"
#include "fortran/sentinels.h"

namespace fulmar::fortran {
namespace {

/// Writes one request back that has completed, and does what was pending for it.
void store_completed(int* number, MPI_Request request) {
  if (anything_pending()) pending_complete(*number);
  *number = fortran::number(request);
}

/// The statuses of a call that completes all its requests or tells by them which ones: the program's, or own ones
/// where it ignores them and something is pending.
class AllStatuses {
 public:
  AllStatuses(int* statuses, MPI_Count count)
      : given_(statuses_address(statuses)),
        own_(given_ == MPI_STATUSES_IGNORE && anything_pending() ? count : 0) {}
  [[nodiscard]] bool failed() const { return own_.failed(); }
  [[nodiscard]] MPI_Status* get() { return own_.size() > 0 ? own_.data() : given_; }
  /// After MPI_ERR_IN_STATUS: whether this one has completed without an error.
  [[nodiscard]] bool is_success(MPI_Count i) {
    return get() != MPI_STATUSES_IGNORE && get()[i].MPI_ERROR == MPI_SUCCESS;
  }

 private:
  MPI_Status* given_;
  SmallArray<MPI_Status, 16> own_;
};

/// Writes all requests back. `all_done`: whether the call says that all have completed; otherwise those
/// have that are null now, and persistent ones whose status says so.
void store_all(const HandleArray<MPI_Request>& array, int* numbers, bool all_done, int result,
               AllStatuses& statuses) {
  const bool by_status = result == MPI_ERR_IN_STATUS;
  for (MPI_Count i = 0; i < array.size(); ++i) {
    if (all_done || array[i] == MPI_REQUEST_NULL || (by_status && statuses.is_success(i))) {
      store_completed(&numbers[i], array[i]);
    } else {
      numbers[i] = number(array[i]);
    }
  }
}

/// Of the calls that give some indices: counts them from 1.
void store_some(const HandleArray<MPI_Request>& array, int* numbers, int found, int* indices) {
  for (int i = 0; found != MPI_UNDEFINED && i < found; ++i) {
    const int index = indices[i]++;
    store_completed(&numbers[index], array[index]);
  }
}

/// The index that Fortran sees.
int from_one(int index) { return index == MPI_UNDEFINED ? index : index + 1; }

using Requests = HandleArray<MPI_Request>;

}  // namespace

void start(int* request, int* ierror) {
  if (anything_pending()) pending_start(*request);
  HandleResult<MPI_Request> handle(request, *request);
  give(ierror, PMPI_Start(handle.get()));
  handle.store();
}

void startall(const int* count, int* requests, int* ierror) {
  Requests array(requests, *count);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  if (anything_pending()) {
    for (int i = 0; i < *count; ++i) pending_start(requests[i]);
  }
  give(ierror, PMPI_Startall(*count, array.get()));
  array.store(requests);
}

void request_free(int* request, int* ierror) {
  const int before = *request;
  HandleResult<MPI_Request> handle(request, before);
  if (anything_pending() && pending_free_later(before, handle.value())) {
    *request = number(MPI_REQUEST_NULL);
    return give(ierror, MPI_SUCCESS);
  }
  const int result = PMPI_Request_free(handle.get());
  if (result == MPI_SUCCESS && anything_pending()) pending_freed(before);
  handle.store();
  give(ierror, result);
}

void cancel(const int* request, int* ierror) {
  auto under_way = handle<MPI_Request>(*request);  // C takes its address and leaves it as it is
  give(ierror, PMPI_Cancel(&under_way));
}

void wait(int* request, int* status, int* ierror) {
  HandleResult<MPI_Request> handle(request, *request);
  const int result = PMPI_Wait(handle.get(), status_address(status));
  if (result == MPI_SUCCESS || handle.value() == MPI_REQUEST_NULL) {
    store_completed(request, handle.value());
  }
  give(ierror, result);
}

void waitall(const int* count, int* requests, int* statuses, int* ierror) {
  Requests array(requests, *count);
  AllStatuses all(statuses, *count);
  if (array.failed() || all.failed()) return give(ierror, report(Problem::no_memory));
  const int result = PMPI_Waitall(*count, array.get(), all.get());
  store_all(array, requests, result == MPI_SUCCESS, result, all);
  give(ierror, result);
}

void waitany(const int* count, int* requests, int* index, int* status, int* ierror) {
  Requests array(requests, *count);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  int found = MPI_UNDEFINED;
  const int result = PMPI_Waitany(*count, array.get(), &found, status_address(status));
  if (found != MPI_UNDEFINED) store_completed(&requests[found], array[found]);
  *index = from_one(found);
  give(ierror, result);
}

void waitsome(const int* incount, int* requests, int* outcount, int* indices, int* statuses,
              int* ierror) {
  Requests array(requests, *incount);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  *outcount = MPI_UNDEFINED;
  const int result =
      PMPI_Waitsome(*incount, array.get(), outcount, indices, statuses_address(statuses));
  store_some(array, requests, *outcount, indices);
  give(ierror, result);
}

void test(int* request, int* flag, int* status, int* ierror) {
  HandleResult<MPI_Request> handle(request, *request);
  int done = 0;
  const int result = PMPI_Test(handle.get(), &done, status_address(status));
  if (done != 0) store_completed(request, handle.value());
  *flag = logical(done);
  give(ierror, result);
}

void testall(const int* count, int* requests, int* flag, int* statuses, int* ierror) {
  Requests array(requests, *count);
  AllStatuses all(statuses, *count);
  if (array.failed() || all.failed()) return give(ierror, report(Problem::no_memory));
  int done = 0;
  const int result = PMPI_Testall(*count, array.get(), &done, all.get());
  if (done != 0 || result != MPI_SUCCESS) store_all(array, requests, done != 0, result, all);
  *flag = logical(done);
  give(ierror, result);
}

void testany(const int* count, int* requests, int* index, int* flag, int* status, int* ierror) {
  Requests array(requests, *count);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  int found = MPI_UNDEFINED;
  int done = 0;
  const int result = PMPI_Testany(*count, array.get(), &found, &done, status_address(status));
  if (done != 0 && found != MPI_UNDEFINED) store_completed(&requests[found], array[found]);
  *index = from_one(found);
  *flag = logical(done);
  give(ierror, result);
}

void testsome(const int* incount, int* requests, int* outcount, int* indices, int* statuses,
              int* ierror) {
  Requests array(requests, *incount);
  if (array.failed()) return give(ierror, report(Problem::no_memory));
  *outcount = MPI_UNDEFINED;
  const int result =
      PMPI_Testsome(*incount, array.get(), outcount, indices, statuses_address(statuses));
  store_some(array, requests, *outcount, indices);
  give(ierror, result);
}

void request_get_status(const int* request, int* flag, int* status, int* ierror) {
  int done = 0;
  give(ierror,
       PMPI_Request_get_status(handle<MPI_Request>(*request), &done, status_address(status)));
  if (done != 0 && anything_pending()) pending_store(*request);
  *flag = logical(done);
}

}  // namespace fulmar::fortran
