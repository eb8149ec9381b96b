// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/collective.h"

#include "mpi/coll/operations.h"

namespace fulmar::api {
namespace {

/// Whether there are other ranks to notify.
bool has_others(const Scope& scope) noexcept {
  return scope.comm != nullptr && (scope.comm->is_inter || scope.comm->size() > 1);
}

mpi::CollectiveCall refusal(Call call, int code) {
  mpi::CollectiveCall mine(call.name());
  mine.refuse(mpi::last_error_text(code));
  return mine;
}

}  // namespace

void send_refusal(const Scope& scope, Call call, int code) {
  if (!has_others(scope)) return;
  (void)refusal(call, code).compare(const_cast<mpi::Comm&>(*scope.comm));
}

/// By a call that consists only of the comparison.
void send_refusal_later(const Scope& scope, Call call, int code) {
  if (!has_others(scope)) return;
  auto& comm = const_cast<mpi::Comm&>(*scope.comm);
  if (mpi::is_persistent_call(call.name())) return mpi::skip_persistent_call(comm, call.name());
  scope.library.schedules->announced.reset(new (std::nothrow)
                                               mpi::CollectiveCall(refusal(call, code)));
  MPI_Request request = MPI_REQUEST_NULL;
  if (mpi::start_call(comm, mpi::next_tag(comm), mpi::Barrier{}, request).failed()) return;
  mpi::leave_call_running(scope.library, request, nullptr);
}

}  // namespace fulmar::api
