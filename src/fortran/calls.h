// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstddef>

// The procedures that spec/fortran.table marks `by_hand`: those that do more than convert arguments. The
// generated entry points have all their names and manglings and only pass on.
//
// Arguments are those of Fortran: addresses, the lengths of strings at the end. `ierror` may be null
// (mpi_f08, where it is optional). What is not said here is said in MPI 5.0.

namespace fulmar::fortran {

/// A procedure of Fortran whose arguments are not known yet.
using Procedure = void();

/// Stores a result where the caller wants it.
inline void give(int* ierror, int result) {
  if (ierror != nullptr) *ierror = result;
}

/// LOGICAL values: 0 is false and 1 is true for gfortran, flang and, with 1 for -1, ifx.
inline int logical(int flag) { return flag != 0 ? 1 : 0; }

// Chapter 11: start, environment (environment.cc).
void init(int* ierror);
void init_thread(const int* required, int* provided, int* ierror);
void finalize(int* ierror);
void session_init(const int* info, const int* errhandler, int* session, int* ierror);
void pcontrol(const int* level);
void info_create_env(int* info, int* ierror);
void session_get_nth_pset(const int* session, const int* info, const int* n, int* pset_len,
                          char* pset_name, int* ierror, std::size_t length);
MPI_Aint aint_add(const MPI_Aint* base, const MPI_Aint* disp);
MPI_Aint aint_diff(const MPI_Aint* addr1, const MPI_Aint* addr2);
double wtime();
double wtick();

// Chapter 10: values of info objects (environment.cc). Fortran counts no zero byte.
void info_get(const int* info, const char* key, const int* valuelen, char* value, int* flag,
              int* ierror, std::size_t key_length, std::size_t value_length);
void info_get_string(const int* info, const char* key, int* buflen, char* value, int* flag,
                     int* ierror, std::size_t key_length, std::size_t value_length);

// Section 3.6: in mpif.h and the module mpi, buffer_addr is not used (environment.cc).
void buffer_detach(void* buffer_addr, int* size, int* ierror);
void buffer_detach_f08(void** buffer_addr, int* size, int* ierror);
void buffer_detach_c_f08(void** buffer_addr, MPI_Count* size, int* ierror);
void comm_detach_buffer(const int* comm, void* buffer_addr, int* size, int* ierror);
void comm_detach_buffer_f08(const int* comm, void** buffer_addr, int* size, int* ierror);
void comm_detach_buffer_c_f08(const int* comm, void** buffer_addr, MPI_Count* size, int* ierror);
void session_detach_buffer(const int* session, void* buffer_addr, int* size, int* ierror);
void session_detach_buffer_f08(const int* session, void** buffer_addr, int* size, int* ierror);
void session_detach_buffer_c_f08(const int* session, void** buffer_addr, MPI_Count* size,
                                 int* ierror);

// Chapter 8 (environment.cc): the length of remain_dims is known to the communicator alone.
void cart_sub(const int* comm, const int* remain_dims, int* newcomm, int* ierror);

// Chapter 3: completion (completion.cc). Indices count from 1; pending work of sections is done.
void start(int* request, int* ierror);
void startall(const int* count, int* requests, int* ierror);
void request_free(int* request, int* ierror);
void cancel(const int* request, int* ierror);
void wait(int* request, int* status, int* ierror);
void waitall(const int* count, int* requests, int* statuses, int* ierror);
void waitany(const int* count, int* requests, int* index, int* status, int* ierror);
void waitsome(const int* incount, int* requests, int* outcount, int* indices, int* statuses,
              int* ierror);
void test(int* request, int* flag, int* status, int* ierror);
void testall(const int* count, int* requests, int* flag, int* statuses, int* ierror);
void testany(const int* count, int* requests, int* index, int* flag, int* status, int* ierror);
void testsome(const int* incount, int* requests, int* outcount, int* indices, int* statuses,
              int* ierror);
void request_get_status(const int* request, int* flag, int* status, int* ierror);
void request_get_status_all(const int* count, const int* requests, int* flag, int* statuses,
                            int* ierror);
void request_get_status_any(const int* count, const int* requests, int* index, int* flag,
                            int* status, int* ierror);
void request_get_status_some(const int* incount, const int* requests, int* outcount, int* indices,
                             int* statuses, int* ierror);

// Chapter 7: the library keeps the address of newcomm until the request is complete (idup.cc).
void comm_idup(const int* comm, int* newcomm, int* request, int* ierror);
void comm_idup_with_info(const int* comm, const int* info, int* newcomm, int* request, int* ierror);

// Chapter 11: spawning (spawn.cc).
void comm_spawn(const char* command, const char* argv, const int* maxprocs, const int* info,
                const int* root, const int* comm, int* intercomm, int* errcodes, int* ierror,
                std::size_t command_length, std::size_t argv_length);
void comm_spawn_multiple(const int* count, const char* commands, const char* argvs,
                         const int* maxprocs, const int* infos, const int* root, const int* comm,
                         int* intercomm, int* errcodes, int* ierror, std::size_t command_length,
                         std::size_t argv_length);

// Chapter 7: attributes (attributes.cc).
void comm_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                        int* ierror);
void type_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                        int* ierror);
void win_create_keyval(Procedure* copy, Procedure* remove, int* keyval, const MPI_Aint* extra,
                       int* ierror);
void keyval_create(Procedure* copy, Procedure* remove, int* keyval, const int* extra, int* ierror);
void comm_set_attr(const int* comm, const int* keyval, const MPI_Aint* value, int* ierror);
void comm_get_attr(const int* comm, const int* keyval, MPI_Aint* value, int* flag, int* ierror);
void type_set_attr(const int* datatype, const int* keyval, const MPI_Aint* value, int* ierror);
void type_get_attr(const int* datatype, const int* keyval, MPI_Aint* value, int* flag, int* ierror);
void win_set_attr(const int* win, const int* keyval, const MPI_Aint* value, int* ierror);
void win_get_attr(const int* win, const int* keyval, MPI_Aint* value, int* flag, int* ierror);
void attr_put(const int* comm, const int* keyval, const int* value, int* ierror);
void attr_get(const int* comm, const int* keyval, int* value, int* flag, int* ierror);

/// The predefined functions MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN and MPI_WIN_DUP_FN; MPI_DUP_FN; the four
/// that copy nothing; the four that delete nothing.
void dup_fn(const MPI_Aint* value_in, MPI_Aint* value_out, int* flag, int* ierror);
void old_dup_fn(const int* value_in, int* value_out, int* flag, int* ierror);
void null_copy_fn(int* flag, int* ierror);
void null_delete_fn(int* ierror);

// What MPI 3.0 removed (removed.cc).
void address(const void* location, int* address, int* ierror);
void errhandler_create(Procedure* function, int* errhandler, int* ierror);
void errhandler_set(const int* comm, const int* errhandler, int* ierror);
void errhandler_get(const int* comm, int* errhandler, int* ierror);
void type_extent(const int* datatype, int* extent, int* ierror);
void type_lb(const int* datatype, int* displacement, int* ierror);
void type_ub(const int* datatype, int* displacement, int* ierror);
void type_hvector(const int* count, const int* blocklength, const int* stride, const int* oldtype,
                  int* newtype, int* ierror);
void type_hindexed(const int* count, const int* blocklengths, const int* displacements,
                   const int* oldtype, int* newtype, int* ierror);
void type_struct(const int* count, const int* blocklengths, const int* displacements,
                 const int* types, int* newtype, int* ierror);

// Callbacks (callbacks.cc, datarep.cc).
void op_create(Procedure* function, const int* commute, int* op, int* ierror);
void op_create_c(Procedure* function, const int* commute, int* op, int* ierror);
void comm_create_errhandler(Procedure* function, int* errhandler, int* ierror);
void file_create_errhandler(Procedure* function, int* errhandler, int* ierror);
void session_create_errhandler(Procedure* function, int* errhandler, int* ierror);
void win_create_errhandler(Procedure* function, int* errhandler, int* ierror);
void grequest_start(Procedure* query, Procedure* free, Procedure* cancel, const MPI_Aint* extra,
                    int* request, int* ierror);
void register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                      const MPI_Aint* extra, int* ierror, std::size_t datarep_length);
void register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                        const MPI_Aint* extra, int* ierror, std::size_t datarep_length);

/// How many entries the arrays of MPI_Alltoallw have: the size of the group that is talked to.
[[nodiscard]] int peers(MPI_Comm comm);
/// How many neighbours send to the process, and how many it sends to (MPI 5.0 section 8.7).
struct Degrees {
  int in = 0;
  int out = 0;
};
[[nodiscard]] Degrees degrees(MPI_Comm comm);

}  // namespace fulmar::fortran
