// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The functions of mpi-ext.h for checkpoints: see recovery_entries.cc.
#pragma GCC visibility push(default)
#include <mpi-ext.h>
#pragma GCC visibility pop

#include "api/entry.h"
#include "api/kinds/info.h"
#include "runtime/calls.h"

namespace api = fulmar::api;
namespace runtime = fulmar::runtime;

#pragma GCC visibility push(default)
extern "C" {

int PMPIX_Checkpoint_quiesce(MPI_Info info) {
  static constexpr char call[] = "MPIX_Checkpoint_quiesce\0info";
  return api::entry<runtime::checkpoint_quiesce, api::When::running, api::Lock::checks>(
      call, api::InfoOrNullIn{0, info});
}
[[gnu::weak, gnu::alias("PMPIX_Checkpoint_quiesce")]] int MPIX_Checkpoint_quiesce(MPI_Info info);

int PMPIX_Checkpoint_resume(MPI_Info info) {
  static constexpr char call[] = "MPIX_Checkpoint_resume\0info";
  return api::entry<runtime::checkpoint_resume, api::When::any, api::Lock::checks>(
      call, api::InfoOrNullIn{0, info});
}
[[gnu::weak, gnu::alias("PMPIX_Checkpoint_resume")]] int MPIX_Checkpoint_resume(MPI_Info info);

}  // extern "C"
#pragma GCC visibility pop
