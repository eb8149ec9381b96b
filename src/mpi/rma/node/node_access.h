// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/op/op.h"
#include "mpi/rma/win.h"

/// Operations on memory of this node that is not mapped: windows of MPI_Win_create and
/// MPI_Win_create_dynamic. Short ones the target carries out if it waits in MPI (node_calls.h). What
/// is longer, and what a target does not come to, this process does by copies of the kernel
/// (process_vm_readv, process_vm_writev), accumulates with the mutex of the target: all who change
/// its memory by accumulates hold that. So the target has nothing to do.
///
/// Each sets `done` to false, and does nothing, where requests have to be used: the target is not on
/// this node, the kernel does not let this process, or, in a dynamic window, the memory is not known
/// here to be attached. They wait for the lock of the target if one was asked for by a request, and
/// fail with the failure of operations before them, or as their target says.
namespace fulmar::mpi {

/// One run of memory of a target. `place` counts from its base; in a dynamic window it is the address
/// there.
struct TargetRun {
  int rank;
  std::int64_t place;
  std::int64_t bytes;
};

/// `run.bytes` packed bytes of `origin` go to the target.
[[nodiscard]] base::Error put_on_node(Win& win, const ConstData& origin, const TargetRun& run,
                                      bool& done);
[[nodiscard]] base::Error get_on_node(Win& win, const Data& origin, const TargetRun& run,
                                      bool& done);

/// What an accumulate does. `element` is that of both sides; null: bytes, for MPI_REPLACE and
/// MPI_NO_OP.
struct NodeAccumulate {
  const Op* op;
  const Datatype* element;
  std::uint32_t element_number;  ///< as in wire::RmaHeader
  std::uint32_t second;          ///< as in wire::RmaHeader
  ConstData origin;              ///< type null: nothing is read; else `run.bytes` packed bytes
  Data result;                   ///< type null: not wanted; else room for `run.bytes` packed bytes
};
[[nodiscard]] base::Error accumulate_on_node(Win& win, const NodeAccumulate& what,
                                             const TargetRun& run, bool& done);

/// `both`: the compare value, then the new one, of `run.bytes` bytes each; at most 16.
[[nodiscard]] base::Error swap_on_node(Win& win, std::span<const std::byte> both, void* result,
                                       const TargetRun& run, bool& done);

}  // namespace fulmar::mpi
