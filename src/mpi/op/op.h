// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/datatype/datatype.h"
#include "mpi/library.h"
#include "mpi/op/kernels.h"

namespace fulmar::mpi {

/// Whether operands may change places.
enum class Commutes : std::uint8_t { no, yes };

/// A reduction operation (MPI 5.0 section 6.9). Predefined ones live in PredefinedOps.
struct Op : Object {
  static constexpr ObjectKind object_kind = ObjectKind::op;

  /// A predefined operation.
  Op(OpCode op_code, const char* op_name) noexcept
      : Object(object_kind),
        code(op_code),
        commutative(op_code != OpCode::replace && op_code != OpCode::no_op),
        name(op_name) {}
  /// An operation of the user.
  Op(UserFunction user_function, Commutes commutes) noexcept
      : Object(object_kind),
        code(OpCode::user),
        commutative(commutes == Commutes::yes),
        name("user's operation"),
        function(user_function) {}

  OpCode code;
  /// The order of operands may be changed. All operations are associative.
  bool commutative;
  const char* name;
  UserFunction function;
};

/// The predefined operations of a process. Made by `runtime` before the first MPI call does
/// anything.
class PredefinedOps {
 public:
  explicit PredefinedOps(Library& library);
  ~PredefinedOps();
  PredefinedOps(const PredefinedOps&) = delete;
  PredefinedOps& operator=(const PredefinedOps&) = delete;

 private:
  Library& library_;
  std::deque<Op> ops_;
};

/// Whether a collective may reduce elements of this type with this operation; MPI_ERR_OP with both
/// names where not (MPI 5.0 section 6.9.2). Operations of the user take every type, predefined ones
/// the predefined types that they are defined for, and duplicates of those; MPI_MINLOC and
/// MPI_MAXLOC of `count` 0 elements every predefined type.
base::Error check_reduction(const Op& op, const Datatype& type, Count count = 1);

/// inout[i] = in[i] op inout[i] for `count` elements, which are one extent apart. The arguments
/// have passed check_reduction. No MPI calls, but the user's function may make some. Buffers may be
/// misaligned no more than the type allows and must not overlap.
void apply_op(const Op& op, const Datatype& type, const void* in, void* inout, Count count);
/// result[i] = left[i] op right[i], as above; predefined operations only.
void apply_predefined(const Op& op, const Datatype& type, const void* left, const void* right,
                      void* result, Count count);

}  // namespace fulmar::mpi
