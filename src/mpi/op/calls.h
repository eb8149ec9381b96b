// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/op/op.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 section 6.9 on operations; see mpi/args.h.

base::Error op_create(Library& library, UserFunction function, int commute, MPI_Op& out);
/// Predefined operations cannot be freed (MPI_ERR_OP).
base::Error op_free(Library& library, Handle<Op> op);
base::Error op_commutative(Library& library, Op& op, int& commute);
base::Error reduce_local(Library& library, const void* in, Data inout, Op& op);

}  // namespace fulmar::mpi
