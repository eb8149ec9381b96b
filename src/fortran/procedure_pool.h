// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <atomic>

#include "fortran/calls.h"

namespace fulmar::fortran {

/// Procedures of Fortran that C functions without extra state call: the function of place i calls the
/// procedure in place i. A procedure keeps its place for the life of the process, and has one however
/// often it is used, so nothing has to know when an operation or an error handler is not in use any more.
template <int places>
class ProcedurePool {
 public:
  /// The place of a procedure, -1 when all are taken. Any thread.
  [[nodiscard]] int place_of(Procedure* procedure) {
    pthread_mutex_lock(&lock_);
    int place = 0;
    while (place < used_ && get(place) != procedure) ++place;
    if (place == used_) {
      if (used_ == places) {
        place = -1;
      } else {
        procedures_[used_++].store(procedure, std::memory_order_relaxed);
      }
    }
    pthread_mutex_unlock(&lock_);
    return place;
  }

  [[nodiscard]] Procedure* get(int place) const {
    return procedures_[place].load(std::memory_order_relaxed);
  }

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  int used_ = 0;  // under lock_
  std::atomic<Procedure*> procedures_[places] = {};
};

}  // namespace fulmar::fortran
