// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/options/tool_calls.h"

#include <algorithm>
#include <mutex>

#include "base/engine_lock.h"
#include "runtime/init_lock.h"
#include "runtime/process.h"

namespace fulmar::runtime {

mpi::Tool& tool() { return process().tool(); }

int t_init_thread(int required, int* provided) {
  if (provided == nullptr) return MPI_T_ERR_INVALID;
  const std::lock_guard steady(init_lock());
  mpi::Tool& tool = runtime::tool();
  base::EngineLock& lock = tool.library().lock;
  const base::EngineGuard guard(lock);
  tool.enter();
  if (required >= MPI_THREAD_MULTIPLE && lock.enabled()) tool.threads = true;
  const int highest = tool.threads ? int{MPI_THREAD_MULTIPLE} : int{MPI_THREAD_SERIALIZED};
  *provided = std::clamp(required, int{MPI_THREAD_SINGLE}, highest);
  return MPI_SUCCESS;
}

int t_finalize() {
  const std::lock_guard steady(init_lock());
  mpi::Tool& tool = runtime::tool();
  const base::EngineGuard guard(tool.library().lock);
  if (!tool.in_use()) return MPI_T_ERR_NOT_INITIALIZED;
  tool.leave();
  return MPI_SUCCESS;
}

}  // namespace fulmar::runtime
