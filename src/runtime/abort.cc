// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/abort.h"

#include <unistd.h>

#include <cstdio>

namespace fulmar::runtime {

void abort_job(Job& job, int code) {
  std::fflush(nullptr);
  const int status = (code & 0xff) == 0 ? 1 : code & 0xff;
  job.abort(code, status, "MPI_Abort");
  ::_exit(status);
}

}  // namespace fulmar::runtime
