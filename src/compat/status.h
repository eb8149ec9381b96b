// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "compat/values.h"
#include "fortran/small_array.h"
#include "mpi/status_words.h"

// Statuses. What a call leaves alone in our status (MPI_ERROR of a single completion, entries of messages that
// are not complete) stays as the program has it.

namespace fulmar::compat {

using ForeignStatus = foreign::Status;
using fortran::SmallArray;

/// The words of a status that its ABI keeps to itself, in MPICH's form: 63 bits of bytes, 1 that says cancelled.
template <class Status>
  requires requires(Status& status) { status.count_low; }
inline void set_private_words(Status& status, MPI_Count bytes, bool cancelled) {
  const auto count = static_cast<std::uint64_t>(bytes);
  status.count_low = static_cast<int>(static_cast<std::uint32_t>(count));
  status.count_high_and_cancelled =
      static_cast<int>(static_cast<std::uint32_t>(count >> 32 << 1) | (cancelled ? 1U : 0U));
}
template <class Status>
  requires requires(Status& status) { status.count_low; }
inline MPI_Count bytes_of(const Status& status) {
  const auto high = static_cast<std::uint32_t>(status.count_high_and_cancelled) >> 1;
  return static_cast<MPI_Count>(std::uint64_t{high} << 32 |
                                static_cast<std::uint32_t>(status.count_low));
}
template <class Status>
  requires requires(Status& status) { status.count_low; }
inline bool is_cancelled(const Status& status) {
  return (status.count_high_and_cancelled & 1) != 0;
}

/// The same in Open MPI's form.
template <class Status>
  requires requires(Status& status) { status.bytes; }
inline void set_private_words(Status& status, MPI_Count bytes, bool cancelled) {
  status.bytes = static_cast<std::size_t>(bytes);
  status.cancelled = cancelled ? 1 : 0;
}
template <class Status>
  requires requires(Status& status) { status.bytes; }
inline MPI_Count bytes_of(const Status& status) {
  return static_cast<MPI_Count>(status.bytes);
}
template <class Status>
  requires requires(Status& status) { status.bytes; }
inline bool is_cancelled(const Status& status) {
  return status.cancelled != 0;
}

/// Marks a status, so that `store_status` sees what the call has stored.
inline void mark_status(MPI_Status& status) {
  status.MPI_SOURCE = untouched;
  status.MPI_ERROR = untouched;
}
inline void store_status(const MPI_Status& status, ForeignStatus& place) {
  if (status.MPI_SOURCE != untouched) {
    place.MPI_SOURCE = to_foreign<set::rank>(status.MPI_SOURCE);
    place.MPI_TAG = to_foreign<set::tag>(status.MPI_TAG);
    set_private_words(place, mpi::status_bytes(status), mpi::status_cancelled(status));
  }
  if (status.MPI_ERROR != untouched) place.MPI_ERROR = code_out(status.MPI_ERROR);
}
inline void load_status(const ForeignStatus& place, MPI_Status& status) {
  status.MPI_SOURCE = to_standard<set::rank>(place.MPI_SOURCE);
  status.MPI_TAG = to_standard<set::tag>(place.MPI_TAG);
  status.MPI_ERROR = code_in(place.MPI_ERROR);
  status.MPI_internal[2] = 0;
  mpi::set_status_bytes(status, bytes_of(place));
  mpi::set_status_cancelled(status, is_cancelled(place) ? mpi::Cancelled::yes : mpi::Cancelled::no);
}

inline bool is_ignored(const ForeignStatus* place) {
  return place == nullptr || reinterpret_cast<std::intptr_t>(place) == foreign::status_ignore;
}

/// A status that a call stores.
class StatusOut {
 public:
  explicit StatusOut(ForeignStatus* place) : place_(is_ignored(place) ? nullptr : place) {
    if (place_ != nullptr) mark_status(status_);
  }
  ~StatusOut() {
    if (place_ != nullptr) store_status(status_, *place_);
  }
  StatusOut(const StatusOut&) = delete;
  StatusOut& operator=(const StatusOut&) = delete;
  operator MPI_Status*() { return place_ != nullptr ? &status_ : MPI_STATUS_IGNORE; }

 private:
  ForeignStatus* place_;
  MPI_Status status_;
};

/// A status that a call reads.
class StatusIn {
 public:
  explicit StatusIn(const ForeignStatus* place) : is_there_(!is_ignored(place)) {
    if (is_there_) load_status(*place, status_);
  }
  operator const MPI_Status*() const { return is_there_ ? &status_ : nullptr; }

 private:
  bool is_there_;
  MPI_Status status_;
};

/// A status that a call changes.
class StatusInOut {
 public:
  explicit StatusInOut(ForeignStatus* place) : place_(is_ignored(place) ? nullptr : place) {
    if (place_ != nullptr) load_status(*place_, status_);
    before_ = status_;
  }
  ~StatusInOut() {
    if (place_ == nullptr) return;
    // What is no constant of the other ABI would not come back as it was.
    const ForeignStatus old = *place_;
    store_status(status_, *place_);
    if (status_.MPI_SOURCE == before_.MPI_SOURCE) place_->MPI_SOURCE = old.MPI_SOURCE;
    if (status_.MPI_TAG == before_.MPI_TAG) place_->MPI_TAG = old.MPI_TAG;
    if (status_.MPI_ERROR == before_.MPI_ERROR) place_->MPI_ERROR = old.MPI_ERROR;
  }
  StatusInOut(const StatusInOut&) = delete;
  StatusInOut& operator=(const StatusInOut&) = delete;
  operator MPI_Status*() { return place_ != nullptr ? &status_ : nullptr; }

 private:
  ForeignStatus* place_;
  MPI_Status status_{};
  MPI_Status before_;
};

/// An array of statuses that a call stores.
class StatusArrayOut {
 public:
  StatusArrayOut(ForeignStatus* places, int count)
      : places_(is_ignored(places) ? nullptr : places), statuses_(places_ != nullptr ? count : 0) {
    for (MPI_Count i = 0; i < statuses_.size(); ++i) mark_status(statuses_[i]);
  }
  ~StatusArrayOut() {
    for (MPI_Count i = 0; i < statuses_.size(); ++i) store_status(statuses_[i], places_[i]);
  }
  StatusArrayOut(const StatusArrayOut&) = delete;
  StatusArrayOut& operator=(const StatusArrayOut&) = delete;
  operator MPI_Status*() {
    return places_ != nullptr && !statuses_.failed() ? statuses_.data() : MPI_STATUSES_IGNORE;
  }

 private:
  ForeignStatus* places_;
  SmallArray<MPI_Status, 8> statuses_;
};

}  // namespace fulmar::compat
