// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"
#include "mpi/info/info.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 10; see mpi/args.h. Legal at any time. Keys have 1 to
// MPI_MAX_INFO_KEY - 1 bytes (else MPI_ERR_INFO_KEY), values at most MPI_MAX_INFO_VAL - 1
// (MPI_ERR_INFO_VALUE). MPI_INFO_ENV cannot be changed or freed (MPI_ERR_INFO).

base::Error info_create(Library& library, MPI_Info& out);
base::Error info_create_env(Library& library, int argc, char** argv, MPI_Info& out);
/// An object for the caller to free: for each kind of hardware (mpi/hardware.h) "true" where the
/// process is confined to one object of it, else "false" (MPI 5.0 section 11.2.4).
base::Error get_hw_resource_info(Library& library, MPI_Info& out);
base::Error info_dup(Library& library, Info& info, MPI_Info& out);
base::Error info_free(Library& library, Handle<Info> info);

base::Error info_set(Library& library, Info& info, std::string_view key, std::string_view value);
/// MPI_ERR_INFO_NOKEY where the key is not set.
base::Error info_delete(Library& library, Info& info, std::string_view key);

/// Returns at most `room` bytes and a null byte.
base::Error info_get(Library& library, Info& info, std::string_view key, int room, char* value,
                     int& found);
/// `size` goes in as the room at `value`, null byte included, and comes out as what the value
/// needs. With room 0 nothing is stored.
base::Error info_get_string(Library& library, Info& info, std::string_view key, int& size,
                            char* value, int& found);
base::Error info_get_valuelen(Library& library, Info& info, std::string_view key, int& length,
                              int& found);
base::Error info_get_nkeys(Library& library, Info& info, int& count);
base::Error info_get_nthkey(Library& library, Info& info, int n, char* key);

}  // namespace fulmar::mpi
