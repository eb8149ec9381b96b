// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include "support/check.h"

namespace test {

/// A performance variable of type MPI_UNSIGNED_LONG_LONG, bound to no object. A variable that can be
/// started counts from the construction on. MPI_T has to be initialized as long as this exists.
class PerformanceVariable {
 public:
  explicit PerformanceVariable(const char* name, int var_class = MPI_T_PVAR_CLASS_COUNTER)
      : name_(name) {
    int index = -1;
    int count = 0;
    expect_equal(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS, name);
    MPI_T_pvar_session_create(&session_);
    expect_equal(MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count), MPI_SUCCESS,
                 name);
    MPI_T_pvar_start(session_, handle_);
  }
  PerformanceVariable(const PerformanceVariable&) = delete;
  PerformanceVariable& operator=(const PerformanceVariable&) = delete;
  ~PerformanceVariable() { MPI_T_pvar_session_free(&session_); }

  /// The value in this process.
  [[nodiscard]] unsigned long long value() const {
    unsigned long long value = ~0ULL;
    expect_equal(MPI_T_pvar_read(session_, handle_, &value), MPI_SUCCESS, name_);
    return value;
  }
  /// The sum over all processes of MPI_COMM_WORLD; collective.
  [[nodiscard]] unsigned long long sum() const {
    unsigned long long all = value();
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

 private:
  const char* name_;
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

}  // namespace test
