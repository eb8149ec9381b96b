/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * What Fulmar adds to MPI 5.0. Include it behind, or in place of, mpi.h. Nothing in here is part of the
 * standard ABI: a program that uses it may have to be compiled again for another MPI library.
 *
 * User-level failure mitigation (ULFM): the interface of MPI's working group on fault tolerance, by
 * which a program goes on after processes have failed. docs/failures.md says what fails when, and how
 * launchers are told to let the others live.
 *
 * Errors of its functions: MPI_ERR_COMM where comm is no communicator, MPI_ERR_ARG for null pointers;
 * they go to the error handler of comm. All work on communicators that were revoked, and between MPI_Init
 * (or the first session) and MPI_Finalize. Any thread may call them, as the level of threads allows.
 */
#ifndef FULMAR_MPI_EXT_H
#define FULMAR_MPI_EXT_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Error classes of process failures.
 *
 * MPI_Error_class gives the class of each, MPI_Error_string a text. The values lie above all classes of the
 * standard and below MPI_ERR_LASTCODE (0x3fff), so that they do not meet what MPI_Add_error_class makes.
 *
 * MPIX_ERR_PROC_FAILED          A process that the call needs has failed. A message to or from it did not
 *                               arrive; a collective call ended without a result, and what it was to write
 *                               is undefined. Calls among other processes are not affected.
 * MPIX_ERR_PROC_FAILED_PENDING  A non-blocking receive from MPI_ANY_SOURCE cannot be completed, because a
 *                               process has failed that might have been the sender. The request stays
 *                               active: after the failure is acknowledged it can be waited for again, and
 *                               it can be cancelled.
 * MPIX_ERR_REVOKED              The communicator was revoked.
 */
#define MPIX_ERR_PROC_FAILED 0x3f01
#define MPIX_ERR_PROC_FAILED_PENDING 0x3f02
#define MPIX_ERR_REVOKED 0x3f03

/* Key of a predefined attribute of communicators: an int that is 1, as failures are tolerated. */
#define MPIX_FT 901

/* Revokes comm for all of its processes. Local; each living process learns of it, also where this one
 * fails right after. What is pending on comm ends with MPIX_ERR_REVOKED, apart from messages whose
 * receives were matched; calls on it that need other processes fail at once with that class, but for
 * MPIX_Comm_agree and MPIX_Comm_shrink and their non-blocking forms. */
int MPIX_Comm_revoke(MPI_Comm comm);
/* flag: 1 where comm is known to be revoked in this process, else 0. Local. */
int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag);

/* Collective: makes a communicator of the processes of comm that live, in the order of their ranks (of an
 * intercommunicator: one of the living of both groups). All get the same. Processes that fail during the
 * call are left out, or, where they fail at its end, are failed members of newcomm. It inherits the error
 * handler, no attributes. MPIX_ERR_PROC_FAILED where all of the remote group have failed; newcomm is
 * MPI_COMM_NULL then. */
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
/* The same without waiting. newcomm is set when request completes, and has to exist until then. */
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);

/* Collective: all living processes of comm get the bitwise AND of what they gave in flag (of an
 * intercommunicator: of what those of the remote group gave). Also that of a process which failed after it
 * had contributed may count. The same result in all, also in those that fail after they had it.
 * MPIX_ERR_PROC_FAILED, in all or in none, where a process has failed whose failure some caller had not
 * acknowledged; flag is set all the same. */
int MPIX_Comm_agree(MPI_Comm comm, int* flag);
/* The same without waiting. flag is read at once, and set when request completes. */
int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);

/* The processes of comm that are known here to have failed, of both groups of an intercommunicator, in the
 * order in which they became known; the group is the caller's to free. Local. */
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp);
/* Acknowledges the first num_to_ack of these, in so far as there are as many; none that was is taken back.
 * num_acked: how many are acknowledged now. Once all that are known are, receives from MPI_ANY_SOURCE work
 * again, and MPIX_Comm_agree does not complain of them. Local. */
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked);

/* The older forms: acknowledges all that are known; the group of those that are acknowledged. */
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp);

/* Under these names for tools that take the place of those above (MPI 5.0 section 15.2). */
int PMPIX_Comm_revoke(MPI_Comm comm);
int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request);
int PMPIX_Comm_agree(MPI_Comm comm, int* flag);
int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failedgrp);
int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int* num_acked);
int PMPIX_Comm_failure_ack(MPI_Comm comm);
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failedgrp);

/* Checkpoints (docs/checkpoint.md): processes that tools such as DMTCP or CRIU can save and restore, or whose program saves its
 * own data at a moment at which no message is under way. Fulmar's own. Errors go to the handler of MPI_COMM_WORLD. No other
 * thread may be in MPI meanwhile. */

/* Collective over the job: all processes of MPI_COMM_WORLD. Messages that were sent and not received are kept where
 * they are to be received, or, if they are long, where they were sent; requests that are not complete stay as they are. Then
 * networks are closed: until MPIX_Checkpoint_resume this process has no connection to another one, to an adapter or to
 * the launcher, no memory in common with another process, and no thread of the library; and no function may be called that
 * needs MPI to be initialized. MPI_ERR_UNSUPPORTED_OPERATION, in all processes, where one has a window, an open file or
 * port, a message of MPI_Mprobe, or has met processes of another job, and under other launchers than Fulmar's mpiexec: nothing has
 * changed then. MPIX_ERR_PROC_FAILED where a process of the job has died. There are no info keys. */
int MPIX_Checkpoint_quiesce(MPI_Info info);
/* Collective over the job: opens networks, and all goes on with the same ranks, communicators and requests. The process may have been
 * restored from an image since, on another host, under another mpiexec with as many processes. Info key fulmar_launcher: the
 * name of a file with lines NAME=VALUE, the environment that the new mpiexec has given to this rank; without it the
 * environment of the process counts, which in an image is that of its start. MPI_ERR_OTHER where no launcher answers or its job
 * is not of the same shape; the call may be made again then. MPIX_ERR_PROC_FAILED where a process has died since. */
int MPIX_Checkpoint_resume(MPI_Info info);
int PMPIX_Checkpoint_quiesce(MPI_Info info);
int PMPIX_Checkpoint_resume(MPI_Info info);

/* Datatypes of two bytes for each number, also in reductions: each operation is done in single precision and rounded. They are
 * predefined, and have the attributes of the types of C.
 *
 * MPIX_C_FLOAT16            C's _Float16: IEEE binary16, 5 bits of exponent
 * MPIX_BFLOAT16             8 bits of exponent, as float
 * MPIX_C_FLOAT16_COMPLEX    C's _Float16 _Complex: two MPIX_C_FLOAT16
 * MPIX_CXX_FLOAT16_COMPLEX  C++'s std::complex of such a type
 *
 * The values lie where the standard ABI (MPI 5.0 chapter 20) has no handles.
 */
#define MPIX_C_FLOAT16 ((MPI_Datatype)0x3c0)
#define MPIX_BFLOAT16 ((MPI_Datatype)0x3c1)
#define MPIX_C_FLOAT16_COMPLEX ((MPI_Datatype)0x3c2)
#define MPIX_CXX_FLOAT16_COMPLEX ((MPI_Datatype)0x3c3)

#ifdef __cplusplus
}
#endif

#endif
