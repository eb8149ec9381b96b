// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/request/request.h"

/// FULMAR_CHECK=types. A message that ends within a basic element of the receiver's type was sent
/// with another type, which MPI 5.0 section 3.3.1 does not allow.
namespace fulmar::mpi {

/// MPI_ERR_TYPE where the message of `status` is no whole number of basic elements.
base::Error check_whole_elements(const Datatype& type, const MPI_Status& status);

/// Lets a receive request end with that error.
void check_when_complete(Library& library, MPI_Request handle, Datatype& type) noexcept;

}  // namespace fulmar::mpi
