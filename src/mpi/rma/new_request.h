// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/request/request.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/requests.h"

namespace fulmar::mpi {

/// Ends or starts an operation, with the MPI_Request of those that have one.
class NewRequest {
 public:
  /// `out` is null where the call makes no request.
  NewRequest(Win& win, MPI_Request* out) noexcept : win_(win), out_(out) {}

  /// The operation is complete.
  [[nodiscard]] base::Error done() const {
    if (out_ == nullptr) return {};
    return make_done_request(*win_.library, *win_.comm, *out_);
  }
  /// It was done by this process. `request` says what it was.
  [[nodiscard]] base::Error done(RmaRequest request) const {
    if (win_.watch.check != nullptr) {
      add_flags(request.header);
      win_.target(win_.rank()).dirty = true;  // the next flush orders it before what comes
      const base::Error bad = check_own_access(win_, request.header, *request.type);
      if (bad.failed()) return bad;
    }
    return done();
  }
  /// It goes on as `request` says.
  [[nodiscard]] base::Error start(int rank, RmaRequest& request) const {
    if (out_ != nullptr) {
      request.request = make_rma_request(win_, *out_);
      if (request.request == nullptr) return no_request_memory();
    }
    if (win_.watch.check != nullptr) add_flags(request.header);
    start_request(win_, rank, request);
    return {};
  }

 private:
  void add_flags(wire::RmaHeader& header) const noexcept {
    header.flags |= win_.watch.check->fence_parity;
    if (out_ != nullptr) header.flags |= wire::rma_with_request;
  }

  Win& win_;
  MPI_Request* out_;
};

}  // namespace fulmar::mpi
