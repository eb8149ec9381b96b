// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/abort.h"

#include <unistd.h>

#include <cstdio>

#include "runtime/process.h"

namespace fulmar::runtime {

namespace {

/// Flushes the program's output where possible. The library's own thread does not wait for
/// stream locks: a thread of the program may hold one for long (it reads the terminal, say).
void flush_streams() {
  if (!process().progress_thread().is_this_thread()) {
    std::fflush(nullptr);
    return;
  }
  for (std::FILE* stream : {stdout, stderr}) {
    if (::ftrylockfile(stream) != 0) continue;
    ::fflush_unlocked(stream);
    ::funlockfile(stream);
  }
}

}  // namespace

void abort_job(Job& job, int code) {
  flush_streams();
  const int status = (code & 0xff) == 0 ? 1 : code & 0xff;
  job.abort(code, status, "MPI_Abort");
  ::_exit(status);
}

void end_process(int status) {
  flush_streams();
  ::_exit(status);
}

}  // namespace fulmar::runtime
