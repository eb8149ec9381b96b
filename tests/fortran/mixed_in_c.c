// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The C side of mixed.F90.
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

static int value_of_c = 4711;

int c_rank(int comm) {
  int rank = -1;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  return rank;
}

// A keyval whose values are pointers, as C programs have them.
int c_keyval(void) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  return keyval;
}

int64_t c_put(int comm, int keyval) {
  MPI_Comm_set_attr(MPI_Comm_f2c(comm), keyval, &value_of_c);
  return (int64_t)(intptr_t)&value_of_c;
}

// Whether an attribute is the pointer that c_put attached.
int c_is_put(int comm, int keyval) {
  void* value = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &value, &found);
  return found && value == &value_of_c;
}

// What Fortran attached: the integer at the address (MPI 5.0 section 19.3.7).
int64_t c_read(int comm, int keyval) {
  MPI_Aint* value = NULL;
  int found = 0;
  MPI_Comm_get_attr(MPI_Comm_f2c(comm), keyval, &value, &found);
  return found ? *value : -1;
}

int c_is_status_ignore(const int* status) { return status == MPI_F_STATUS_IGNORE; }
int c_is_statuses_ignore(const int* status) { return status == MPI_F_STATUSES_IGNORE; }
int c_is_f08_status_ignore(const void* status) { return status == MPI_F08_STATUS_IGNORE; }
int c_is_f08_statuses_ignore(const void* statuses) { return statuses == MPI_F08_STATUSES_IGNORE; }

int c_tag_of(const int* status) {
  MPI_Status c_status;
  MPI_Status_f2c(status, &c_status);
  return c_status.MPI_TAG;
}
