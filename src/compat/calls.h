// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "compat/handles.h"
#include "compat/status.h"

// The functions that spec/compat.table marks `by_hand`, and those beside MPI 5.0 (`extra`). The generated entry
// points have their names and only pass on. Arguments and results, error codes as well, are those of the other ABI.

namespace fulmar::compat {

// environment.cc
int pcontrol(int level);
int get_version(int* version, int* subversion);
/// -1 for both: this is not the standard ABI (MPI 5.0 section 20.2).
int abi_get_version(int* major, int* minor);

// Handles as the integers of Fortran (fortran_handles.cc): MPI 5.0 sections 19.3.4 and 20.3.4.
int comm_c2f(Foreign<MPI_Comm> handle);
Foreign<MPI_Comm> comm_f2c(int number);
int comm_toint(Foreign<MPI_Comm> handle);
Foreign<MPI_Comm> comm_fromint(int number);
int errhandler_c2f(Foreign<MPI_Errhandler> handle);
Foreign<MPI_Errhandler> errhandler_f2c(int number);
int errhandler_toint(Foreign<MPI_Errhandler> handle);
Foreign<MPI_Errhandler> errhandler_fromint(int number);
int file_c2f(Foreign<MPI_File> handle);
Foreign<MPI_File> file_f2c(int number);
int file_toint(Foreign<MPI_File> handle);
Foreign<MPI_File> file_fromint(int number);
int group_c2f(Foreign<MPI_Group> handle);
Foreign<MPI_Group> group_f2c(int number);
int group_toint(Foreign<MPI_Group> handle);
Foreign<MPI_Group> group_fromint(int number);
int info_c2f(Foreign<MPI_Info> handle);
Foreign<MPI_Info> info_f2c(int number);
int info_toint(Foreign<MPI_Info> handle);
Foreign<MPI_Info> info_fromint(int number);
int message_c2f(Foreign<MPI_Message> handle);
Foreign<MPI_Message> message_f2c(int number);
int message_toint(Foreign<MPI_Message> handle);
Foreign<MPI_Message> message_fromint(int number);
int op_c2f(Foreign<MPI_Op> handle);
Foreign<MPI_Op> op_f2c(int number);
int op_toint(Foreign<MPI_Op> handle);
Foreign<MPI_Op> op_fromint(int number);
int request_c2f(Foreign<MPI_Request> handle);
Foreign<MPI_Request> request_f2c(int number);
int request_toint(Foreign<MPI_Request> handle);
Foreign<MPI_Request> request_fromint(int number);
int session_c2f(Foreign<MPI_Session> handle);
Foreign<MPI_Session> session_f2c(int number);
int session_toint(Foreign<MPI_Session> handle);
Foreign<MPI_Session> session_fromint(int number);
int type_c2f(Foreign<MPI_Datatype> handle);
Foreign<MPI_Datatype> type_f2c(int number);
int type_toint(Foreign<MPI_Datatype> handle);
Foreign<MPI_Datatype> type_fromint(int number);
int win_c2f(Foreign<MPI_Win> handle);
Foreign<MPI_Win> win_f2c(int number);
int win_toint(Foreign<MPI_Win> handle);
Foreign<MPI_Win> win_fromint(int number);

// Statuses (fortran_handles.cc): in Fortran they have the layout of C.
int status_c2f(const ForeignStatus* c_status, int* f_status);
int status_f2c(const int* f_status, ForeignStatus* c_status);
int status_c2f08(const ForeignStatus* c_status, ForeignStatus* f08_status);
int status_f082c(const ForeignStatus* f08_status, ForeignStatus* c_status);
int status_f2f08(const int* f_status, ForeignStatus* f08_status);
int status_f082f(const ForeignStatus* f08_status, int* f_status);

// Attributes (attributes.cc): MPI 5.0 section 7.7.
int comm_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state);
int type_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state);
int win_create_keyval(Procedure* copy, Procedure* remove, int* keyval, void* extra_state);
int keyval_create(Procedure* copy, Procedure* remove, int* keyval, void* extra_state);
int comm_get_attr(Foreign<MPI_Comm> comm, int keyval, void* value, int* flag);
int type_get_attr(Foreign<MPI_Datatype> datatype, int keyval, void* value, int* flag);
int win_get_attr(Foreign<MPI_Win> win, int keyval, void* value, int* flag);
int attr_get(Foreign<MPI_Comm> comm, int keyval, void* value, int* flag);

// Callbacks (callbacks.cc, datarep.cc).
int op_create(Procedure* function, int commute, Foreign<MPI_Op>* op);
int op_create_c(Procedure* function, int commute, Foreign<MPI_Op>* op);
int comm_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler);
int file_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler);
int session_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler);
int win_create_errhandler(Procedure* function, Foreign<MPI_Errhandler>* errhandler);
int grequest_start(Procedure* query, Procedure* free, Procedure* cancel, void* extra_state,
                   Foreign<MPI_Request>* request);
int register_datarep(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                     void* extra_state);
int register_datarep_c(const char* datarep, Procedure* read, Procedure* write, Procedure* extent,
                       void* extra_state);

// Datatypes (datatypes.cc).
int type_get_contents(Foreign<MPI_Datatype> datatype, int max_integers, int max_addresses,
                      int max_datatypes, int* integers, MPI_Aint* addresses,
                      Foreign<MPI_Datatype>* datatypes);
int type_get_contents_c(Foreign<MPI_Datatype> datatype, MPI_Count max_integers,
                        MPI_Count max_addresses, MPI_Count max_large_counts,
                        MPI_Count max_datatypes, int* integers, MPI_Aint* addresses,
                        MPI_Count* large_counts, Foreign<MPI_Datatype>* datatypes);

// Requests with a result that comes later (late_results.cc).
int comm_idup(Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* newcomm, Foreign<MPI_Request>* request);
int comm_idup_with_info(Foreign<MPI_Comm> comm, Foreign<MPI_Info> info, Foreign<MPI_Comm>* newcomm,
                        Foreign<MPI_Request>* request);
int request_free(Foreign<MPI_Request>* request);

// Buffers for MPI_Bsend (buffers.cc).
int buffer_attach(void* buffer, int size);
int buffer_attach_c(void* buffer, MPI_Count size);
int buffer_detach(void* address, int* size);
int buffer_detach_c(void* address, MPI_Count* size);
int comm_attach_buffer(Foreign<MPI_Comm> comm, void* buffer, int size);
int comm_detach_buffer(Foreign<MPI_Comm> comm, void* address, int* size);
int comm_attach_buffer_c(Foreign<MPI_Comm> comm, void* buffer, MPI_Count size);
int comm_detach_buffer_c(Foreign<MPI_Comm> comm, void* address, MPI_Count* size);
int session_attach_buffer(Foreign<MPI_Session> session, void* buffer, int size);
int session_detach_buffer(Foreign<MPI_Session> session, void* address, int* size);
int session_attach_buffer_c(Foreign<MPI_Session> session, void* buffer, MPI_Count size);
int session_detach_buffer_c(Foreign<MPI_Session> session, void* address, MPI_Count* size);

// Processes (spawn.cc).
int comm_spawn(const char* command, char** argv, int maxprocs, Foreign<MPI_Info> info, int root,
               Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* intercomm, int* errcodes);
int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                        const Foreign<MPI_Info>* infos, int root, Foreign<MPI_Comm> comm,
                        Foreign<MPI_Comm>* intercomm, int* errcodes);

// User-level failure mitigation (recovery.cc).
int comm_revoke(Foreign<MPI_Comm> comm);
int comm_is_revoked(Foreign<MPI_Comm> comm, int* flag);
int comm_shrink(Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* newcomm);
int comm_agree(Foreign<MPI_Comm> comm, int* flag);
int comm_iagree(Foreign<MPI_Comm> comm, int* flag, Foreign<MPI_Request>* request);
int comm_get_failed(Foreign<MPI_Comm> comm, Foreign<MPI_Group>* failedgrp);
int comm_ack_failed(Foreign<MPI_Comm> comm, int num_to_ack, int* num_acked);
int comm_failure_ack(Foreign<MPI_Comm> comm);
int comm_failure_get_acked(Foreign<MPI_Comm> comm, Foreign<MPI_Group>* failedgrp);

// The tool interface (tool.cc): MPI 5.0 chapter 15.
int t_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count);
int t_event_register_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                              Foreign<MPI_Info> info, void* user_data, Procedure* function);
int t_event_set_dropped_handler(MPI_T_event_registration registration, Procedure* function);
int t_event_handle_free(MPI_T_event_registration registration, void* user_data,
                        Procedure* function);
int t_event_get_info(int index, char* name, int* name_length, int* verbosity,
                     Foreign<MPI_Datatype>* datatypes, MPI_Aint* displacements, int* elements,
                     MPI_T_enum* enumtype, Foreign<MPI_Info>* info, char* description,
                     int* description_length, int* bind);

// What MPI 3.0 removed (removed.cc): MPI 5.0 chapter 17.
int address(const void* location, MPI_Aint* address);
int type_extent(Foreign<MPI_Datatype> datatype, MPI_Aint* extent);
int type_lb(Foreign<MPI_Datatype> datatype, MPI_Aint* displacement);
int type_ub(Foreign<MPI_Datatype> datatype, MPI_Aint* displacement);
int type_hvector(int count, int blocklength, MPI_Aint stride, Foreign<MPI_Datatype> oldtype,
                 Foreign<MPI_Datatype>* newtype);
int type_hindexed(int count, const int* blocklengths, const MPI_Aint* displacements,
                  Foreign<MPI_Datatype> oldtype, Foreign<MPI_Datatype>* newtype);
int type_struct(int count, const int* blocklengths, const MPI_Aint* displacements,
                const Foreign<MPI_Datatype>* types, Foreign<MPI_Datatype>* newtype);
int errhandler_create(Procedure* function, Foreign<MPI_Errhandler>* errhandler);
int errhandler_get(Foreign<MPI_Comm> comm, Foreign<MPI_Errhandler>* errhandler);
int errhandler_set(Foreign<MPI_Comm> comm, Foreign<MPI_Errhandler> errhandler);

// Extensions that programs ask for: none of these devices' memory is used directly (environment.cc).
int query_cuda_support();
int query_hip_support();
int query_rocm_support();
int query_ze_support();
int gpu_query_support(int gpu_type, int* is_supported);

}  // namespace fulmar::compat
