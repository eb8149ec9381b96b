// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <mutex>

#include "base/engine_lock.h"
#include "mpi/tool/tool.h"
#include "runtime/init_lock.h"
#include "runtime/options/tool_calls.h"

namespace fulmar::api {

/// The path of the functions of MPI_T to their implementation: no checks of arguments, no error
/// handler. They may be called before MPI_Init and after MPI_Finalize, from threads that do not use
/// MPI otherwise (MPI 5.0 section 15.3.4), and from callbacks of events, in which the thread holds
/// the lock of the library. Where that lock may be switched on or off, `init_lock` keeps it as it
/// is.
template <auto implementation, class... Args>
int tool_entry(Args... args) {
  mpi::Tool& tool = runtime::tool();
  base::EngineLock& lock = tool.library().lock;
  std::unique_lock<std::recursive_mutex> steady(runtime::init_lock(), std::defer_lock);
  if (!tool.threads && (!lock.enabled() || !lock.held())) steady.lock();
  const base::EngineGuard guard(lock);
  if (!tool.in_use()) return MPI_T_ERR_NOT_INITIALIZED;
  return implementation(tool, args...);
}

}  // namespace fulmar::api
