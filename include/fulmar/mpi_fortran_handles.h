/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * fulmar/mpi_fortran_handles.h: handles and statuses between C and Fortran, for C and C++ (MPI 5.0
 * section 19.3.4 and 19.3.5). The standard ABI leaves these names to the Fortran side; mpi.h
 * includes this header unless FULMAR_NO_FORTRAN_HANDLES is defined. Define it where a program
 * brings these functions itself.
 *
 * All functions are inline over MPI_*_toint and MPI_*_fromint, so a program that uses them needs
 * no name outside the standard ABI. They may be called at any time, by any thread. A number that
 * belongs to no handle gives the null handle.
 *
 * MPI_Fint is the default INTEGER of the Fortran compiler, int. Define MPI_ABI_Fint ahead of mpi.h,
 * to long for example, where Fortran is compiled with integers of 8 bytes; handles fit either.
 *
 * The PMPI_ forms are for tools that put themselves in between. */
#ifndef FULMAR_MPI_FORTRAN_HANDLES_H
#define FULMAR_MPI_FORTRAN_HANDLES_H

#include "../mpi.h"

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FULMAR_HANDLES_INLINE_ static inline
#else
#define FULMAR_HANDLES_INLINE_ static __inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MPI_ABI_Fint
#define MPI_ABI_Fint int
#endif
#ifndef MPI_Fint
typedef MPI_ABI_Fint MPI_Fint;
#endif

/* What TYPE(MPI_Status) of the module mpi_f08 is in C: the layout of MPI_Status. */
typedef struct MPI_F08_status {
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
  MPI_Fint MPI_internal[5];
} MPI_F08_status;

/* Where the Fortran constants of these names lie. They are data of the Fortran library
 * (libmpifort_abi): who uses them links it. */
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
extern MPI_F08_status* MPI_F08_STATUS_IGNORE;
extern MPI_F08_status* MPI_F08_STATUSES_IGNORE;

/* ---- Handles ---- */

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Comm_c2f(MPI_Comm comm) { return MPI_Comm_toint(comm); }
FULMAR_HANDLES_INLINE_ MPI_Comm MPI_Comm_f2c(MPI_Fint comm) { return MPI_Comm_fromint(comm); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Comm_c2f(MPI_Comm comm) { return PMPI_Comm_toint(comm); }
FULMAR_HANDLES_INLINE_ MPI_Comm PMPI_Comm_f2c(MPI_Fint comm) { return PMPI_Comm_fromint(comm); }

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Errhandler_c2f(MPI_Errhandler errhandler) {
  return MPI_Errhandler_toint(errhandler);
}
FULMAR_HANDLES_INLINE_ MPI_Errhandler MPI_Errhandler_f2c(MPI_Fint errhandler) {
  return MPI_Errhandler_fromint(errhandler);
}
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Errhandler_c2f(MPI_Errhandler errhandler) {
  return PMPI_Errhandler_toint(errhandler);
}
FULMAR_HANDLES_INLINE_ MPI_Errhandler PMPI_Errhandler_f2c(MPI_Fint errhandler) {
  return PMPI_Errhandler_fromint(errhandler);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_File_c2f(MPI_File file) { return MPI_File_toint(file); }
FULMAR_HANDLES_INLINE_ MPI_File MPI_File_f2c(MPI_Fint file) { return MPI_File_fromint(file); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_File_c2f(MPI_File file) { return PMPI_File_toint(file); }
FULMAR_HANDLES_INLINE_ MPI_File PMPI_File_f2c(MPI_Fint file) { return PMPI_File_fromint(file); }

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Group_c2f(MPI_Group group) { return MPI_Group_toint(group); }
FULMAR_HANDLES_INLINE_ MPI_Group MPI_Group_f2c(MPI_Fint group) { return MPI_Group_fromint(group); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Group_c2f(MPI_Group group) { return PMPI_Group_toint(group); }
FULMAR_HANDLES_INLINE_ MPI_Group PMPI_Group_f2c(MPI_Fint group) {
  return PMPI_Group_fromint(group);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Info_c2f(MPI_Info info) { return MPI_Info_toint(info); }
FULMAR_HANDLES_INLINE_ MPI_Info MPI_Info_f2c(MPI_Fint info) { return MPI_Info_fromint(info); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Info_c2f(MPI_Info info) { return PMPI_Info_toint(info); }
FULMAR_HANDLES_INLINE_ MPI_Info PMPI_Info_f2c(MPI_Fint info) { return PMPI_Info_fromint(info); }

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Message_c2f(MPI_Message message) {
  return MPI_Message_toint(message);
}
FULMAR_HANDLES_INLINE_ MPI_Message MPI_Message_f2c(MPI_Fint message) {
  return MPI_Message_fromint(message);
}
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Message_c2f(MPI_Message message) {
  return PMPI_Message_toint(message);
}
FULMAR_HANDLES_INLINE_ MPI_Message PMPI_Message_f2c(MPI_Fint message) {
  return PMPI_Message_fromint(message);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Op_c2f(MPI_Op op) { return MPI_Op_toint(op); }
FULMAR_HANDLES_INLINE_ MPI_Op MPI_Op_f2c(MPI_Fint op) { return MPI_Op_fromint(op); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Op_c2f(MPI_Op op) { return PMPI_Op_toint(op); }
FULMAR_HANDLES_INLINE_ MPI_Op PMPI_Op_f2c(MPI_Fint op) { return PMPI_Op_fromint(op); }

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Request_c2f(MPI_Request request) {
  return MPI_Request_toint(request);
}
FULMAR_HANDLES_INLINE_ MPI_Request MPI_Request_f2c(MPI_Fint request) {
  return MPI_Request_fromint(request);
}
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Request_c2f(MPI_Request request) {
  return PMPI_Request_toint(request);
}
FULMAR_HANDLES_INLINE_ MPI_Request PMPI_Request_f2c(MPI_Fint request) {
  return PMPI_Request_fromint(request);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Session_c2f(MPI_Session session) {
  return MPI_Session_toint(session);
}
FULMAR_HANDLES_INLINE_ MPI_Session MPI_Session_f2c(MPI_Fint session) {
  return MPI_Session_fromint(session);
}
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Session_c2f(MPI_Session session) {
  return PMPI_Session_toint(session);
}
FULMAR_HANDLES_INLINE_ MPI_Session PMPI_Session_f2c(MPI_Fint session) {
  return PMPI_Session_fromint(session);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Type_c2f(MPI_Datatype datatype) {
  return MPI_Type_toint(datatype);
}
FULMAR_HANDLES_INLINE_ MPI_Datatype MPI_Type_f2c(MPI_Fint datatype) {
  return MPI_Type_fromint(datatype);
}
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Type_c2f(MPI_Datatype datatype) {
  return PMPI_Type_toint(datatype);
}
FULMAR_HANDLES_INLINE_ MPI_Datatype PMPI_Type_f2c(MPI_Fint datatype) {
  return PMPI_Type_fromint(datatype);
}

FULMAR_HANDLES_INLINE_ MPI_Fint MPI_Win_c2f(MPI_Win win) { return MPI_Win_toint(win); }
FULMAR_HANDLES_INLINE_ MPI_Win MPI_Win_f2c(MPI_Fint win) { return MPI_Win_fromint(win); }
FULMAR_HANDLES_INLINE_ MPI_Fint PMPI_Win_c2f(MPI_Win win) { return PMPI_Win_toint(win); }
FULMAR_HANDLES_INLINE_ MPI_Win PMPI_Win_f2c(MPI_Fint win) { return PMPI_Win_fromint(win); }

/* ---- Statuses. They give MPI_SUCCESS. ---- */

FULMAR_HANDLES_INLINE_ int PMPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  int i;
  f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
  f_status[MPI_F_TAG] = c_status->MPI_TAG;
  f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i) f_status[3 + i] = c_status->MPI_internal[i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  return PMPI_Status_c2f(c_status, f_status);
}

FULMAR_HANDLES_INLINE_ int PMPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  int i;
  c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
  c_status->MPI_TAG = f_status[MPI_F_TAG];
  c_status->MPI_ERROR = f_status[MPI_F_ERROR];
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i) c_status->MPI_internal[i] = f_status[3 + i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  return PMPI_Status_f2c(f_status, c_status);
}

FULMAR_HANDLES_INLINE_ int PMPI_Status_c2f08(const MPI_Status* c_status,
                                             MPI_F08_status* f08_status) {
  int i;
  f08_status->MPI_SOURCE = c_status->MPI_SOURCE;
  f08_status->MPI_TAG = c_status->MPI_TAG;
  f08_status->MPI_ERROR = c_status->MPI_ERROR;
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i)
    f08_status->MPI_internal[i] = c_status->MPI_internal[i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_c2f08(const MPI_Status* c_status,
                                            MPI_F08_status* f08_status) {
  return PMPI_Status_c2f08(c_status, f08_status);
}

FULMAR_HANDLES_INLINE_ int PMPI_Status_f082c(const MPI_F08_status* f08_status,
                                             MPI_Status* c_status) {
  int i;
  c_status->MPI_SOURCE = f08_status->MPI_SOURCE;
  c_status->MPI_TAG = f08_status->MPI_TAG;
  c_status->MPI_ERROR = f08_status->MPI_ERROR;
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i)
    c_status->MPI_internal[i] = f08_status->MPI_internal[i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_f082c(const MPI_F08_status* f08_status,
                                            MPI_Status* c_status) {
  return PMPI_Status_f082c(f08_status, c_status);
}

FULMAR_HANDLES_INLINE_ int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status) {
  int i;
  f08_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
  f08_status->MPI_TAG = f_status[MPI_F_TAG];
  f08_status->MPI_ERROR = f_status[MPI_F_ERROR];
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i) f08_status->MPI_internal[i] = f_status[3 + i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status) {
  return PMPI_Status_f2f08(f_status, f08_status);
}

FULMAR_HANDLES_INLINE_ int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status) {
  int i;
  f_status[MPI_F_SOURCE] = f08_status->MPI_SOURCE;
  f_status[MPI_F_TAG] = f08_status->MPI_TAG;
  f_status[MPI_F_ERROR] = f08_status->MPI_ERROR;
  for (i = 0; i < MPI_F_STATUS_SIZE - 3; ++i) f_status[3 + i] = f08_status->MPI_internal[i];
  return MPI_SUCCESS;
}

FULMAR_HANDLES_INLINE_ int MPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status) {
  return PMPI_Status_f082f(f08_status, f_status);
}

#ifdef __cplusplus
}
#endif

#undef FULMAR_HANDLES_INLINE_

#endif /* FULMAR_MPI_FORTRAN_HANDLES_H */
