// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "runtime/job/job.h"

namespace fulmar::runtime {

/// Ends this process with `code`, and with it the job: mpiexec sees the state of the rank; another
/// launcher is asked to end the others. A code of 0 would look like success and becomes 1 for the
/// exit status.
[[noreturn]] void abort_job(Job& job, int code);

/// Ends this process with this exit status, and nothing else.
[[noreturn]] void end_process(int status);

}  // namespace fulmar::runtime
