// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 12, and those of chapters 7, 9 and 10 on windows; see mpi/args.h
// for how parameters come. Errors are raised on the window's error handler.

// --- windows (make.cc, describe.cc). Where making one fails in one process it fails in all.
base::Error win_create(Library& library, void* base, Count size, Count unit, Info* info, Comm& comm,
                       MPI_Win& out);
base::Error win_allocate(Library& library, Count size, Count unit, Info* info, Comm& comm,
                         void*& base, MPI_Win& out);
/// MPI_ERR_RMA_SHARED where the processes cannot share memory.
base::Error win_allocate_shared(Library& library, Count size, Count unit, Info* info, Comm& comm,
                                void*& base, MPI_Win& out);
base::Error win_create_dynamic(Library& library, Info* info, Comm& comm, MPI_Win& out);
/// MPI_ERR_RMA_FLAVOR where the window is not dynamic, MPI_ERR_RMA_ATTACH where the memory overlaps
/// with what is attached.
base::Error win_attach(Win& win, void* base, Count size);
/// MPI_ERR_BASE where nothing is attached at this address.
base::Error win_detach(Win& win, const void* base);
/// MPI_ERR_RMA_SYNC while an epoch is open.
base::Error win_free(Library& library, ErrorTarget& target, Handle<Win> win);
/// Memory of ranks that is not mapped here has size 0 and a null address. That of others is under their locks from now
/// on: in a passive target epoch this call waits for the lock.
base::Error win_shared_query(Win& win, int rank, Count& size, CountOut unit, void*& base);

base::Error win_get_group(Library& library, Win& win, MPI_Group& out);
base::Error win_set_name(Win& win, std::string_view name);
/// A null window is MPI_WIN_NULL, which has a name too.
base::Error win_get_name(Win* win, char* name, int& length);
base::Error win_set_info(Win& win, Info* info);
base::Error win_get_info(Library& library, Win& win, MPI_Info& out);
base::Error win_set_attr(Library& library, Win& win, int keyval, void* value);
base::Error win_get_attr(Library& library, Win& win, int keyval, void*& value, int& found);
base::Error win_delete_attr(Library& library, Win& win, int keyval);

// --- operations (operations.cc). MPI_ERR_RMA_SYNC where no epoch to the target is open,
// MPI_ERR_RMA_RANGE where memory outside of the window would be touched.
base::Error put(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                Datatype& type, Win& win);
base::Error get(const Data& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
                Win& win);
base::Error accumulate(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                       Datatype& type, Op& op, Win& win);
/// `origin_type` is null for MPI_DATATYPE_NULL, which MPI_NO_OP allows.
base::Error get_accumulate(const void* origin, Count origin_count, Datatype* origin_type,
                           const Data& result, int target, MPI_Aint displacement, Count count,
                           Datatype& type, Op& op, Win& win);
base::Error fetch_and_op(const void* origin, void* result, Datatype& type, int target,
                         MPI_Aint displacement, Op& op, Win& win);
/// MPI_ERR_TYPE for types that are neither integers, logicals nor bytes.
base::Error compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type,
                             int target, MPI_Aint displacement, Win& win);
base::Error rput(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                 Datatype& type, Win& win, MPI_Request& request);
base::Error rget(const Data& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
                 Win& win, MPI_Request& request);
base::Error raccumulate(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                        Datatype& type, Op& op, Win& win, MPI_Request& request);
base::Error rget_accumulate(const void* origin, Count origin_count, Datatype* origin_type,
                            const Data& result, int target, MPI_Aint displacement, Count count,
                            Datatype& type, Op& op, Win& win, MPI_Request& request);

// --- synchronisation (active.cc, passive.cc). MPI_ERR_RMA_SYNC where the epochs do not allow the
// call, MPI_ERR_ASSERT and MPI_ERR_LOCKTYPE for arguments that mean nothing.
base::Error win_fence(int assertion, Win& win);
base::Error win_start(Group& group, int assertion, Win& win);
base::Error win_complete(Win& win);
base::Error win_post(Group& group, int assertion, Win& win);
base::Error win_wait(Win& win);
base::Error win_test(Win& win, int& flag);
base::Error win_lock(int type, int rank, int assertion, Win& win);
base::Error win_unlock(int rank, Win& win);
base::Error win_lock_all(int assertion, Win& win);
base::Error win_unlock_all(Win& win);
base::Error win_flush(int rank, Win& win);
base::Error win_flush_all(Win& win);
base::Error win_flush_local(int rank, Win& win);
base::Error win_flush_local_all(Win& win);
base::Error win_sync(Win& win);

}  // namespace fulmar::mpi
