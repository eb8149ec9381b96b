// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "base/error.h"
#include "mpi/datatype/datatype.h"
#include "mpi/io/view/datarep.h"

namespace fulmar::mpi {

/// The layout of a datatype in a file with this representation (MPI 5.0 section 14.5.1): its basic
/// elements have the sizes that they have there, and displacements that were given in elements are
/// counted in these. Displacements in bytes stay as they are. The caller gets a reference; where
/// nothing differs it is `type` itself.
[[nodiscard]] base::Result<Datatype*> type_in_file(Library& library, Datatype& type,
                                                   const Representation& representation);

}  // namespace fulmar::mpi
