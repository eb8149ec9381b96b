// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdio>
#include <cstdlib>

#include "compat/cxx/objects.h"

namespace fulmar::compat::cxx {
namespace {

[[noreturn]] void call_missing() {
  std::fputs(
      "libmpi_cxx.so.40: this program has no virtual functions for the class of an MPI object that "
      "it uses; compile it again "
      "with Fulmar's mpicxx, or with a source that includes the mpi.h of Open MPI 4\n",
      stderr);
  std::abort();
}

// Two words ahead of the table, and more functions than a class of the bindings has.
#define FULMAR_8(value) value, value, value, value, value, value, value, value
#define FULMAR_98(value)                                                                   \
  FULMAR_8(value), FULMAR_8(value), FULMAR_8(value), FULMAR_8(value), FULMAR_8(value),     \
      FULMAR_8(value), FULMAR_8(value), FULMAR_8(value), FULMAR_8(value), FULMAR_8(value), \
      FULMAR_8(value), FULMAR_8(value), value, value

}  // namespace

MissingFunction* const missing_table[] = {FULMAR_98(call_missing)};

}  // namespace fulmar::compat::cxx
