// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "mpi/request/request.h"

namespace fulmar::mpi {

/// Completes an active request that is done (MPI 5.0 section 3.7.3): fills `status`
/// (may be null) and returns the result. A persistent request becomes inactive; any other ends, and
/// `handle` becomes MPI_REQUEST_NULL. On failure `target` is the object to raise the error on.
inline base::Error complete_request(ErrorTarget& target, Request& request, MPI_Request& handle,
                                    MPI_Status* status);
/// For requests other than plain messages that succeeded.
base::Error complete_request_slow(ErrorTarget& target, Request& request, MPI_Request& handle,
                                  MPI_Status* status);

inline base::Error complete_request(ErrorTarget& target, Request& request, MPI_Request& handle,
                                    MPI_Status* status) {
  if (!request.what->plain || request.operation.outcome.error != base::ErrorClass::success)
      [[unlikely]] {
    return complete_request_slow(target, request, handle, status);
  }
  if (status != nullptr) (void)request.what->finish(request, *status);
  handle = MPI_REQUEST_NULL;
  destroy_plain_request(request);
  return {};
}

/// The error for entry `index` of an array of handles that names no request.
[[nodiscard, gnu::cold]] base::Error no_request(std::span<const MPI_Request> handles,
                                                std::size_t index);

/// The object behind entry `index` of an array of handles. nullptr if there is none, then `*wrong`
/// is the error unless the handle is MPI_REQUEST_NULL.
[[nodiscard]] Request* request_at(const Library& library, std::span<const MPI_Request> handles,
                                  std::size_t index, base::Error& wrong);

/// The active requests of an array, looked up once for calls that test them many times.
class RequestList {
 public:
  RequestList() noexcept = default;
  ~RequestList() { delete[] many_; }
  RequestList(const RequestList&) = delete;
  RequestList& operator=(const RequestList&) = delete;

  /// Fails with MPI_ERR_REQUEST if a handle is neither null nor of a live request.
  base::Error resolve(const Library& library, std::span<const MPI_Request> handles);

  /// nullptr for null handles and inactive requests.
  [[nodiscard]] Request* operator[](std::size_t index) const noexcept { return list_[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t active() const noexcept { return active_; }

  static constexpr std::size_t none = SIZE_MAX;
  /// The first active request that is complete; `none` if there is none.
  [[nodiscard]] std::size_t first_complete() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (list_[i] != nullptr && list_[i]->complete()) return i;
    }
    return none;
  }
  /// nullptr: all are complete.
  [[nodiscard]] const Request* first_incomplete() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (list_[i] != nullptr && !list_[i]->complete()) return list_[i];
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t few = 64;

  Request** list_ = few_;
  Request** many_ = nullptr;
  std::size_t size_ = 0;
  std::size_t active_ = 0;
  Request* few_[few];  // not initialised: up to size_ by resolve
};

/// The statuses of a call that completes several requests. MPI_ERROR of each is set only when the
/// call ends with MPI_ERR_IN_STATUS (MPI 5.0 sections 3.2.5 and 3.7.5).
class StatusWriter {
 public:
  StatusWriter(ErrorTarget& target, MPI_Status* statuses) noexcept
      : target_(target), statuses_(statuses) {}

  /// A null handle or an inactive request.
  void add_empty() noexcept { set_empty_status(next()); }
  /// A send that was complete at once.
  void add_done_send() {
    set_status(slot(), MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    add_result({});
  }
  /// Completes a request.
  void add(Request& request, MPI_Request& handle);
  /// Notes the status of a request that stays, with the result of its operation.
  void add_result(base::Error error) {
    if (error.failed() || failures_ != 0) [[unlikely]]
      add_failure(error);
    ++count_;
  }
  /// The next entry for a status; may be null.
  [[nodiscard]] MPI_Status* slot() const noexcept {
    return statuses_ == nullptr ? nullptr : statuses_ + count_;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Success, or MPI_ERR_IN_STATUS.
  [[nodiscard]] base::Error result() const { return failures_ == 0 ? base::Error{} : in_status(); }

 private:
  MPI_Status* next() noexcept {
    MPI_Status* status = slot();
    ++count_;
    return status;
  }
  [[gnu::cold]] void add_failure(base::Error error);
  [[gnu::cold]] base::Error in_status() const;

  ErrorTarget& target_;
  MPI_Status* statuses_;
  std::size_t count_ = 0;
  std::size_t failures_ = 0;
  std::size_t first_failure_ = 0;
  base::Error first_error_;
};

}  // namespace fulmar::mpi
