// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include "mpi/tool/tool.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 15 but MPI_T_init_thread and MPI_T_finalize. They get the
// arguments as the tool gave them and return what the C function returns: MPI_SUCCESS or an error
// code MPI_T_ERR_; no error handler is called (section 15.3.10). The caller has checked that MPI_T
// is initialised and holds the lock. Results that a tool may not want (section 15.3.3: null
// pointer) are left out; where a call has only one result, a null pointer is MPI_T_ERR_INVALID.

// Enumerations (15.3.5).
int t_enum_get_info(Tool& tool, MPI_T_enum enumtype, int* num, char* name, int* name_len);
int t_enum_get_item(Tool& tool, MPI_T_enum enumtype, int index, int* value, char* name,
                    int* name_len);

// Control variables (15.3.6): the options.
int t_cvar_get_num(Tool& tool, int* count);
int t_cvar_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                    MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                    int* bind, int* scope);
int t_cvar_get_index(Tool& tool, const char* name, int* index);
int t_cvar_handle_alloc(Tool& tool, int index, void* object, MPI_T_cvar_handle* handle, int* count);
int t_cvar_handle_free(Tool& tool, MPI_T_cvar_handle* handle);
int t_cvar_read(Tool& tool, MPI_T_cvar_handle handle, void* buffer);
/// MPI_T_ERR_CVAR_SET_NOT_NOW once the value cannot take effect any more, MPI_T_ERR_INVALID for a
/// value that the variable cannot have.
int t_cvar_write(Tool& tool, MPI_T_cvar_handle handle, const void* buffer);

// Performance variables (15.3.7).
int t_pvar_get_num(Tool& tool, int* count);
int t_pvar_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                    int* var_class, MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc,
                    int* desc_len, int* bind, int* readonly, int* continuous, int* atomic);
int t_pvar_get_index(Tool& tool, const char* name, int var_class, int* index);
int t_pvar_session_create(Tool& tool, MPI_T_pvar_session* session);
int t_pvar_session_free(Tool& tool, MPI_T_pvar_session* session);
int t_pvar_handle_alloc(Tool& tool, MPI_T_pvar_session session, int index, void* object,
                        MPI_T_pvar_handle* handle, int* count);
int t_pvar_handle_free(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
int t_pvar_start(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_stop(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_read(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer);
int t_pvar_write(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                 const void* buffer);
int t_pvar_reset(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle);
int t_pvar_readreset(Tool& tool, MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                     void* buffer);

// Categories (15.3.9).
int t_category_get_num(Tool& tool, int* count);
int t_category_get_info(Tool& tool, int index, char* name, int* name_len, char* desc, int* desc_len,
                        int* num_cvars, int* num_pvars, int* num_categories);
int t_category_get_num_events(Tool& tool, int index, int* num_events);
int t_category_get_index(Tool& tool, const char* name, int* index);
int t_category_get_cvars(Tool& tool, int index, int len, int indices[]);
int t_category_get_pvars(Tool& tool, int index, int len, int indices[]);
int t_category_get_events(Tool& tool, int index, int len, int indices[]);
int t_category_get_categories(Tool& tool, int index, int len, int indices[]);
/// Nothing changes while the program runs.
int t_category_changed(Tool& tool, int* update_number);

// Events (15.3.8). Their sources, types and elements are in mpi/tool/events.h; no hints are known.
// Instances are known while the callback runs that they were given to.
int t_source_get_num(Tool& tool, int* count);
int t_source_get_info(Tool& tool, int index, char* name, int* name_len, char* desc, int* desc_len,
                      MPI_T_source_order* ordering, MPI_Count* ticks, MPI_Count* max_ticks,
                      MPI_Info* info);
int t_source_get_timestamp(Tool& tool, int index, MPI_Count* timestamp);
int t_event_get_num(Tool& tool, int* count);
int t_event_get_info(Tool& tool, int index, char* name, int* name_len, int* verbosity,
                     MPI_Datatype types[], MPI_Aint displacements[], int* num_elements,
                     MPI_T_enum* enumtype, MPI_Info* info, char* desc, int* desc_len, int* bind);
int t_event_get_index(Tool& tool, const char* name, int* index);
int t_event_handle_alloc(Tool& tool, int index, void* object, MPI_Info info,
                         MPI_T_event_registration* registration);
int t_event_handle_free(Tool& tool, MPI_T_event_registration registration, void* user_data,
                        MPI_T_event_free_cb_function* function);
int t_event_handle_get_info(Tool& tool, MPI_T_event_registration registration, MPI_Info* info);
int t_event_handle_set_info(Tool& tool, MPI_T_event_registration registration, MPI_Info info);
int t_event_register_callback(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info, void* user_data,
                              MPI_T_event_cb_function* function);
int t_event_callback_get_info(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info* info);
int t_event_callback_set_info(Tool& tool, MPI_T_event_registration registration,
                              MPI_T_cb_safety cb_safety, MPI_Info info);
int t_event_set_dropped_handler(Tool& tool, MPI_T_event_registration registration,
                                MPI_T_event_dropped_cb_function* function);
int t_event_read(Tool& tool, MPI_T_event_instance instance, int element, void* buffer);
int t_event_copy(Tool& tool, MPI_T_event_instance instance, void* buffer);
int t_event_get_timestamp(Tool& tool, MPI_T_event_instance instance, MPI_Count* timestamp);
int t_event_get_source(Tool& tool, MPI_T_event_instance instance, int* source);

}  // namespace fulmar::mpi
