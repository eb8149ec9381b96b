// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/win.h"

namespace fulmar::api {

/// A rank of the window's group, or MPI_PROC_NULL.
struct TargetIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope& scope) const noexcept {
    return static_cast<unsigned>(raw) < static_cast<unsigned>(scope.win->size()) ||
           raw == MPI_PROC_NULL;
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return base::failure(base::ErrorClass::rank,
                         "argument %s: %d is no rank of the window; they go from 0 to %d, and "
                         "MPI_PROC_NULL is allowed",
                         argument.name, raw, scope.win->size() - 1);
  }
  int value(const Scope&) const noexcept { return raw; }
};

}  // namespace fulmar::api
