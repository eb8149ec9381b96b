// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/op/calls.h"

#include "mpi/datatype/buffers.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Error op_create(Library& library, UserFunction function, int commute, MPI_Op& out) {
  if (function.plain == nullptr && function.large == nullptr) {
    return failure(ErrorClass::arg, "argument user_fn: null pointer; give a function");
  }
  const auto* made = library.make<Op>(function, commute != 0 ? Commutes::yes : Commutes::no);
  if (made == nullptr) return failure(ErrorClass::no_mem, "no memory for another operation");
  out = handle_cast<MPI_Op>(*made);
  return {};
}

Error op_free(Library& library, Handle<Op> op) {
  if (op.object->predefined) {
    return failure(ErrorClass::op, "argument op: %s is predefined and cannot be freed",
                   op.object->name);
  }
  library.retire(*op.object);
  *op.where = MPI_OP_NULL;
  return {};
}

Error op_commutative(Library&, Op& op, int& commute) {
  commute = op.commutative ? 1 : 0;
  return {};
}

Error reduce_local(Library&, const void* in, Data inout, Op& op) {
  if (const Error bad = check_reduction(op, *inout.type); bad.failed()) return bad;
  if (const Error bad = check_buffer("inbuf", in, inout.count, *inout.type); bad.failed()) {
    return bad;
  }
  if (in == inout.address && in != nullptr && inout.count > 0) {
    return failure(ErrorClass::buffer,
                   "arguments inbuf and inoutbuf are the same buffer %p; copy one of them", in);
  }
  if (inout.count > 0) apply_op(op, *inout.type, in, inout.address, inout.count);
  return {};
}

}  // namespace fulmar::mpi
