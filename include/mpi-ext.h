/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * What Fulmar adds to MPI 5.0. Include it behind, or in place of, mpi.h. Nothing in here is part of the
 * standard ABI: a program that uses it may have to be compiled again for another MPI library.
 */
#ifndef FULMAR_MPI_EXT_H
#define FULMAR_MPI_EXT_H

#include <mpi.h>

/* Error classes of process failures, by the names that MPI's working group on fault tolerance gave them.
 *
 * MPI_Error_class gives the class of each, MPI_Error_string a text. The values lie above all classes of the
 * standard and below MPI_ERR_LASTCODE (0x3fff), so that they do not meet what MPI_Add_error_class makes.
 *
 * MPIX_ERR_PROC_FAILED          A process that the call needs has failed. A message to or from it did not
 *                               arrive; a collective call ended without a result, and what it was to write
 *                               is undefined. Calls among other processes are not affected.
 * MPIX_ERR_PROC_FAILED_PENDING  Reserved: a receive from MPI_ANY_SOURCE is interrupted and can still be
 *                               completed. Not raised so far; such a receive ends with the class above.
 * MPIX_ERR_REVOKED              Reserved: the communicator was revoked. Not raised so far.
 */
#define MPIX_ERR_PROC_FAILED 0x3f01
#define MPIX_ERR_PROC_FAILED_PENDING 0x3f02
#define MPIX_ERR_REVOKED 0x3f03

#endif
