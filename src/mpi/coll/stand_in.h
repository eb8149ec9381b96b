// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <vector>

#include "mpi/coll/blocks.h"
#include "mpi/coll/engine/scratch.h"
#include "mpi/comm/comm.h"
#include "mpi/op/op.h"

/// How a rank with wrong arguments takes part in a collective call. Its call returns the error, but
/// the other ranks wait for its contribution: so it exchanges the same messages, with buffers of
/// the library in place of those that cannot be used, and the other ranks return. Data that it
/// should send and cannot read become bytes of all ones (NaN in floating-point types).
///
/// `admit` in mpi/coll/engine/run.h refuses such a call; api/take_part.h makes it again with a
/// StandIn in Schedules::stand_in, and each operation then replaces what its `check` refuses
/// (`substitute`).
namespace fulmar::mpi {

/// Buffers and arrays in place of the user's. Lives until the call is over.
class StandIn {
 public:
  StandIn() noexcept;
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// A buffer of `count` elements, at least 0; nullptr where memory is used up (see `failed`).
  [[nodiscard]] void* buffer(const Datatype& type, Count count) noexcept;
  /// One entry for each of `number` blocks: those of `given`, or 0 where they are negative or
  /// missing.
  [[nodiscard]] CountArray counts(CountArray given, int number);

  /// Appends the types of `number` blocks to `types`. A block without a usable one becomes empty.
  void find_usable(const Comm& comm, const MPI_Datatype* handles, Blocks& blocks, int number,
                   std::vector<const Datatype*>& types);

  /// Gives each of `number` blocks a buffer of its own; negative and missing counts become 0.
  void replace(Blocks& blocks, int number);
  /// The same for send blocks, but keeps those that can be read.
  void repair(Blocks& blocks, int number);

  /// An operation that is defined for every type and leaves its right operand as it is.
  [[nodiscard]] const Op& any_op() const noexcept { return any_op_; }
  /// Not all memory could be allocated.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  void replace_typed(Blocks& blocks, int number);

  std::vector<Scratch> memory_;
  std::vector<std::unique_ptr<std::vector<Count>>> arrays_;
  Op any_op_;
  bool failed_ = false;
};

}  // namespace fulmar::mpi
