// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"
#include "mpi/attr/keyvals.h"

namespace fulmar::mpi {

// Making and freeing keys (MPI 5.0 section 7.7 and, the old names, 16.1). What sets and gets
// attributes is with the objects that have them.

base::Error comm_create_keyval(Library& library, MPI_Comm_copy_attr_function* copy,
                               MPI_Comm_delete_attr_function* remove, int& out, void* extra_state);
base::Error type_create_keyval(Library& library, MPI_Type_copy_attr_function* copy,
                               MPI_Type_delete_attr_function* remove, int& out, void* extra_state);
base::Error win_create_keyval(Library& library, MPI_Win_copy_attr_function* copy,
                              MPI_Win_delete_attr_function* remove, int& out, void* extra_state);
base::Error keyval_create(Library& library, MPI_Copy_function* copy, MPI_Delete_function* remove,
                          int& out, void* extra_state);

/// Set the caller's variable to MPI_KEYVAL_INVALID. A key may be freed again through a copy of the
/// variable while attributes with it exist; delete functions of the user do so.
base::Error comm_free_keyval(Library& library, int& keyval);
base::Error type_free_keyval(Library& library, int& keyval);
base::Error win_free_keyval(Library& library, int& keyval);
base::Error keyval_free(Library& library, int& keyval);

}  // namespace fulmar::mpi
