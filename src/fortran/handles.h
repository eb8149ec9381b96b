// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fortran_abi.h>
#include <mpi.h>

#include "fortran/small_array.h"

// Handles as the INTEGERs of Fortran (MPI 5.0 sections 19.3.4 and 20.3.4). <fortran_abi.h> converts them.

namespace fulmar::fortran {

/// A handle that a call gives or changes: written back when `store` is called.
template <class Handle>
class HandleResult {
 public:
  explicit HandleResult(int* place) : place_(place), value_(before_result<Handle>(*place)) {}
  HandleResult(int* place, int before) : place_(place), value_(handle<Handle>(before)) {}

  [[nodiscard]] Handle* get() { return &value_; }
  [[nodiscard]] Handle value() const { return value_; }
  void store() { *place_ = number(value_); }

 private:
  int* place_;
  Handle value_;
};

/// Says that an array holds what a call gives.
enum class Results { only };

/// An array of handles that goes into a call or comes out of it.
template <class Handle>
class HandleArray {
 public:
  /// `numbers` may be null where `count` is 0.
  HandleArray(const int* numbers, MPI_Count count, Storage storage = Storage::automatic)
      : handles_(count, storage) {
    for (MPI_Count i = 0; i < handles_.size(); ++i) handles_[i] = handle<Handle>(numbers[i]);
  }
  /// For results: `numbers` is where `store` will put them.
  HandleArray(Results /*tag*/, const int* numbers, MPI_Count count) : handles_(count) {
    for (MPI_Count i = 0; i < handles_.size(); ++i) handles_[i] = before_result<Handle>(numbers[i]);
  }

  /// Whether there was no memory for it.
  [[nodiscard]] bool failed() const { return handles_.failed(); }
  [[nodiscard]] Handle* get() { return handles_.data(); }
  [[nodiscard]] MPI_Count size() const { return handles_.size(); }
  [[nodiscard]] Handle operator[](MPI_Count i) const { return handles_[i]; }
  /// The memory of a `heap` array, for a call that reads it later: malloc's. Null where it is empty.
  [[nodiscard]] void* release() { return handles_.release(); }
  void store(int* numbers) const {
    for (MPI_Count i = 0; i < handles_.size(); ++i) numbers[i] = number(handles_[i]);
  }

 private:
  SmallArray<Handle, 16> handles_;
};

}  // namespace fulmar::fortran
