// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/args.h"

namespace fulmar::api {

// The functions of MPI that need no state: versions, clocks, address arithmetic, handles
// as integers, the fields of a status. For the form of the parameters see mpi/args.h.

base::Error get_version(int& version, int& subversion);
base::Error get_library_version(char* version, int& length);
base::Error abi_get_version(int& major, int& minor);

/// A new info object with the sizes of MPI_Aint, MPI_Count and MPI_Offset.
base::Error abi_get_info(mpi::Library& library, MPI_Info& info);
/// A copy of the info that was set; MPI_INFO_NULL before that.
base::Error abi_get_fortran_info(mpi::Library& library, MPI_Info& info);
/// MPI_ERR_ABI when it was set before; the first call counts.
base::Error abi_set_fortran_info(mpi::Library& library, mpi::Info& info);
/// The bytes of .TRUE. and .FALSE., if they were set for logicals of this size.
base::Error abi_get_fortran_booleans(mpi::Library& library, int logical_size, void* logical_true,
                                     void* logical_false, int& is_set);
/// MPI_ERR_ABI when they were set before, MPI_ERR_ARG for a size that is not 1, 2, 4, 8 or 16.
base::Error abi_set_fortran_booleans(mpi::Library& library, int logical_size,
                                     const void* logical_true, const void* logical_false);

/// Seconds of a clock that only goes forward; it starts when the machine does.
double wtime() noexcept;
double wtick() noexcept;
MPI_Aint aint_add(MPI_Aint base, MPI_Aint displacement) noexcept;
MPI_Aint aint_diff(MPI_Aint first, MPI_Aint second) noexcept;
/// Does nothing; tools replace it.
int pcontrol(int level) noexcept;
base::Error get_address(const void* location, MPI_Aint& address);

base::Error status_get_source(const MPI_Status& status, int& source);
base::Error status_get_tag(const MPI_Status& status, int& tag);
base::Error status_get_error(const MPI_Status& status, int& error);
base::Error status_set_source(MPI_Status& status, int source);
base::Error status_set_tag(MPI_Status& status, int tag);
base::Error status_set_error(MPI_Status& status, int error);
base::Error status_set_cancelled(MPI_Status& status, int flag);
base::Error test_cancelled(const MPI_Status& status, int& flag);

// Handles as integers (MPI 5.0 chapter 20): predefined handles keep their value, others get a
// number from 4096 on that stays while the object lives. An invalid handle becomes -1; an
// unused number becomes the null handle. Any thread, any time.

int comm_toint(MPI_Comm handle);
int errhandler_toint(MPI_Errhandler handle);
int file_toint(MPI_File handle);
int group_toint(MPI_Group handle);
int info_toint(MPI_Info handle);
int message_toint(MPI_Message handle);
int op_toint(MPI_Op handle);
int request_toint(MPI_Request handle);
int session_toint(MPI_Session handle);
int type_toint(MPI_Datatype handle);
int win_toint(MPI_Win handle);

MPI_Comm comm_fromint(int number);
MPI_Errhandler errhandler_fromint(int number);
MPI_File file_fromint(int number);
MPI_Group group_fromint(int number);
MPI_Info info_fromint(int number);
MPI_Message message_fromint(int number);
MPI_Op op_fromint(int number);
MPI_Request request_fromint(int number);
MPI_Session session_fromint(int number);
MPI_Datatype type_fromint(int number);
MPI_Win win_fromint(int number);

}  // namespace fulmar::api
