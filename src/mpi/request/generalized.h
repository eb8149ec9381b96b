// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/request/request.h"

namespace fulmar::mpi {

/// A request whose operation the user performs (MPI 5.0 section 13.2).
extern const RequestKind generalized_request;

}  // namespace fulmar::mpi
